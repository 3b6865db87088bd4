/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - a running cluster in place of files. Nothing is written to it. */
#pragma once

#include "base/err.h"
#include "manifest/manifest.h"

struct cli_input;

/*
 * Lists everything once, into the manifest, from the cluster that the options name, or that is found as kubectl finds
 * it. Settings come from ConfigMaps in the namespace of the options, else of the kubeconfig's context, else
 * kube-system.
 */
enum err_code cli_read_live(const struct cli_input *in, struct manifest *m, struct err *e);
