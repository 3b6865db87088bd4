/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_plugin.h - runs the program that a kubeconfig names to say who we are (client.authentication.k8s.io).
 *
 * It is started without a shell, with our environment, the variables of the kubeconfig and KUBERNETES_EXEC_INFO; its
 * standard error is ours, so that people see what it asks or complains about; its standard input is ours only where it
 * may ask people. What it does not answer in a minute, or in more than a megabyte, is an error, and it is ended.
 */
#pragma once

#include "kube/kubeconfig.h"

/* What it wrote on its standard output, if it ended with 0. */
enum err_code exec_plugin_run(const struct kube_config *config, struct secret *ret, struct err *e);
