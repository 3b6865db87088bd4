/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about Kubernetes' quantities. */
#include "conform.h"
#include "units/quantity_upstream.h"

static bool parse(struct fact *f, const char *what, const struct tree *t, struct quantity *ret)
{
	const char *s = tree_text(t, "");
	struct err e;

	if (!quantity_parse(s, strlen(s), ret, &e))
		return true;
	fact_differs(f, what, s, e.msg);
	return false;
}

static void compare_parsed(struct fact *f, const struct quantity *q, const char *input)
{
	struct text canonical = {0}, decimal = {0};

	quantity_upstream_text(q, input, strlen(input), &canonical);
	quantity_text_decimal(q, &decimal);
	same_text(f, "canonical", fact_expect(f, "canonical"), text_str(&canonical));
	same_text(f, "decimal", fact_expect(f, "decimal"), text_str(&decimal));
	same_text(f, "format", fact_expect(f, "format"), quantity_format_text(q->format));
	same_int(f, "value", fact_expect(f, "value"), quantity_upstream_scaled(q, 0));
	same_int(f, "milliValue", fact_expect(f, "milliValue"), quantity_upstream_scaled(q, 3));
	text_free(&canonical);
	text_free(&decimal);
}

void run_quantity_parse(struct fact *f)
{
	const char *input = tree_text(fact_arg(f, "input"), "");
	struct quantity q;
	bool is_valid = !quantity_parse(input, strlen(input), &q, NULL);

	same_bool(f, "valid", fact_expect(f, "valid"), is_valid);
	if (is_valid)
		compare_parsed(f, &q, input);
}

static bool format_of(const char *name, enum quantity_format *ret)
{
	for (int i = QUANTITY_DECIMAL_SI; i <= QUANTITY_BINARY_SI; i++) {
		if (str_eq(quantity_format_text((enum quantity_format)i), name)) {
			*ret = (enum quantity_format)i;
			return true;
		}
	}
	return false;
}

void run_quantity_format(struct fact *f)
{
	const struct tree *alternate = fact_expect(f, "alternateInput");
	const char *format = tree_text(fact_arg(f, "format"), "");
	struct quantity q, same;
	struct text out = {0};

	if (!parse(f, "decimal", fact_arg(f, "decimal"), &q))
		return;
	if (!format_of(format, &q.format))
		fact_differs(f, "format", "one that exists", format);
	quantity_text(&q, &out);
	same_text(f, "canonical", fact_expect(f, "canonical"), text_str(&out));
	text_free(&out);
	if (alternate && parse(f, "alternateInput", alternate, &same) && quantity_cmp(&q, &same))
		fact_differs(f, "alternateInput", "the same amount", tree_text(alternate, ""));
}

void run_quantity_cmp(struct fact *f)
{
	struct quantity a, b;

	if (parse(f, "a", fact_arg(f, "a"), &a) && parse(f, "b", fact_arg(f, "b"), &b))
		same_int(f, "cmp", fact_expect(f, "cmp"), quantity_cmp(&a, &b));
}

void run_quantity_round_up(struct fact *f)
{
	struct quantity q;
	struct text out = {0};

	if (!parse(f, "input", fact_arg(f, "input"), &q))
		return;
	same_bool(f, "exact", fact_expect(f, "exact"), quantity_round_up(&q, (int)tree_int(fact_arg(f, "scale"), 0)));
	quantity_text_decimal(&q, &out);
	same_text(f, "decimal", fact_expect(f, "decimal"), text_str(&out));
	text_free(&out);
}
