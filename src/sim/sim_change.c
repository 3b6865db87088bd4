/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_change.h"

enum err_code sim_change(struct sim *s, const struct sim_event *ev, struct err *e)
{
	(void)s;
	return err_fail(e, ERR_INPUT, "%s: changes are not there yet", ev->where ? ev->where : "event");
}
