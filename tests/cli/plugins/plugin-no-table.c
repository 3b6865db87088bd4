/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object, but no plugin. */
int cede_no_table(void);

int cede_no_table(void)
{
	return 0;
}
