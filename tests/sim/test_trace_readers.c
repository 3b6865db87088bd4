/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of traces: what they take, and what they say of what they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sim/trace_openb.h"
#include "sim/trace_philly.h"
#include "sim/trace_swf.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define S NS_PER_S

/* All rows as "a|b" lines, fields of the columns x and y; the message when one is refused. */
static void csv_lines(const char *data, size_t n, struct text *out)
{
	static const char *const wanted[] = {"x", "y"};
	struct trace_input in;
	struct csv c;
	struct err e;
	bool has_row;
	enum err_code rc;

	trace_input_memory(&in, "t.csv", data, n);
	csv_init(&c, &in);
	rc = csv_header(&c, wanted, 2, &e);
	while (!rc && !(rc = csv_next(&c, &has_row, &e)) && has_row)
		text_printf(out, "%s|%s\n", csv_str(&c, 0), csv_str(&c, 1));
	if (rc)
		text_add(out, e.msg);
	csv_free(&c);
}

static void SI_csv_is_read_strictly(void **state)
{
	static const struct {
		const char *story, *in, *out;
	} rows[] = {
		{"two rows", "x,y\n1,2\n3,4\n", "1|2\n3|4\n"},
		{"columns in another order, and one more", "y,z,x\n1,2,3\n", "3|1\n"},
		{"no newline at the end", "x,y\n1,2", "1|2\n"},
		{"lines that end in CR LF", "x,y\r\n1,2\r\n", "1|2\n"},
		{"a byte order mark", "\xef\xbb\xbfx,y\n1,2\n", "1|2\n"},
		{"empty lines are passed over", "\nx,y\n\n1,2\n\r\n\n", "1|2\n"},
		{"empty fields", "x,y\n,\n", "|\n"},
		{"quotes", "x,y\n\"a,b\",\"say \"\"hi\"\"\"\n", "a,b|say \"hi\"\n"},
		{"a line end inside quotes", "x,y\n\"a\nb\",2\n3,4\n", "a\nb|2\n3|4\n"},
		{"quoted and CR LF", "x,y\r\n\"a\",\"b\"\r\n", "a|b\n"},
		{"an empty quoted field", "x,y\n\"\",\"\"\n", "|\n"},
		{"nothing at all", "", "t.csv:1: no column 'x' in the header"},
		{"only a header", "x,y\n", ""},
		{"a column that is missing", "x,z\n1,2\n", "t.csv:1: no column 'y' in the header"},
		{"a column twice", "x,y,x\n", "t.csv:1: more than one column 'x' in the header"},
		{"too few fields", "x,y\n1,2\n3\n", "1|2\nt.csv:3: 1 fields, the header has 2"},
		{"too many fields", "x,y\n1,2,3\n", "t.csv:2: 3 fields, the header has 2"},
		{"the line is that of the file, not of the row", "x,y\n\"a\nb\",2\n3\n",
		 "a\nb|2\nt.csv:4: 1 fields, the header has 2"},
		{"a quote that stays open", "x,y\n1,\"2\n3,4\n", "t.csv:2:3: this quote is not closed"},
		{"a quote in the middle", "x,y\n1,2\"3\n",
		 "t.csv:2:4: a quote inside a field that does not begin with one"},
		{"text behind a quote", "x,y\n\"1\"2,3\n", "t.csv:2:4: text behind a closed quote"},
		{"a carriage return behind a quote", "x,y\n\"1\"\r2,3\n",
		 "t.csv:2:5: a carriage return without line feed"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text got = {0};

		csv_lines(rows[i].in, strlen(rows[i].in), &got);
		if (!str_eq(text_str(&got), rows[i].out))
			fail_msg("%s: %s", rows[i].story, text_str(&got));
		text_free(&got);
	}
}

static void SI_csv_has_limits(void **state)
{
	struct text data = {0}, got = {0};

	csv_lines("x,y\n1,\0\n", 9, &got);
	assert_string_equal(text_str(&got), "t.csv:2: a NUL byte: this is no text");
	text_reset(&got);
	text_add(&data, "x,y\n\"");
	text_pad(&data, 'a', CSV_ROW_BYTES_MAX + 1);
	csv_lines(data.s, data.n, &got);
	assert_string_equal(text_str(&got), "t.csv:2: a row of more than 1 MiB (is a quote not closed?)");
	text_reset(&got);
	text_reset(&data);
	text_pad(&data, ',', CSV_COLUMNS_MAX);
	csv_lines(data.s, data.n, &got);
	assert_string_equal(text_str(&got), "t.csv:1: more than 256 fields in a row");
	text_free(&got);
	text_free(&data);
}

/* ---- Philly ---- */

static void philly_lines(const char *data, struct text *out)
{
	struct philly_reader r;
	struct trace_input in;
	struct philly_job job;
	struct err e;
	bool has_job;
	enum err_code rc;

	trace_input_memory(&in, "p.csv", data, strlen(data));
	rc = philly_begin(&r, &in, &e);
	while (!rc && !(rc = philly_next(&r, &job, &has_job, &e)) && has_job)
		text_printf(out, "%u: %lld +%lld %u %s\n", job.line, (long long)(job.submit_ns / S),
			    (long long)(job.duration_ns / 1000000), job.gpus, job.cluster);
	if (rc)
		text_add(out, e.msg);
	philly_end(&r);
}

static void SI_philly_is_read(void **state)
{
	static const struct {
		const char *story, *row, *out;
	} rows[] = {
		{"a job", "2017-10-09 07:01:55,66.0,1,66.0,11cb48", "2: 1507532515 +66000 1 11cb48\n"},
		{"a fraction of a second", "2017-10-09 07:01:55,0.25,8,2,a", "2: 1507532515 +250 8 a\n"},
		{"the separator of RFC 3339", "2017-10-09T07:01:55,1,8,2,a", "2: 1507532515 +1000 8 a\n"},
		{"no duration", "2017-10-09 07:01:55,,1,66.0,a",
		 "p.csv:2:21: duration: empty, not a number of seconds from 0 on, as in 66.0"},
		{"a negative duration", "2017-10-09 07:01:55,-1.0,1,66.0,a",
		 "p.csv:2:21: duration: '-1.0' is not a number of seconds from 0 on, as in 66.0"},
		{"a huge duration", "2017-10-09 07:01:55,99999999999999999999,1,66.0,a",
		 "p.csv:2:21: duration: '99999999999999999999' is not a number of seconds from 0 on, as in 66.0"},
		{"a duration in words", "2017-10-09 07:01:55,1h,1,66.0,a",
		 "p.csv:2:21: duration: '1h' is not a number of seconds from 0 on, as in 66.0"},
		{"a point without digits", "2017-10-09 07:01:55,1.,1,66.0,a",
		 "p.csv:2:21: duration: '1.' is not a number of seconds from 0 on, as in 66.0"},
		{"a day that is none", "2017-02-29 07:01:55,1,1,66.0,a",
		 "p.csv:2:1: timestamp: '2017-02-29 07:01:55' is not a time, as in 2017-10-09 07:01:55"},
		{"no time", ",1,1,66.0,a", "p.csv:2:1: timestamp: empty, not a time, as in 2017-10-09 07:01:55"},
		{"no GPUs", "2017-10-09 07:01:55,1,0,66.0,a",
		 "p.csv:2:23: num_gpus: '0' is not a whole number from 1 to 1048576"},
		{"half a GPU", "2017-10-09 07:01:55,1,0.5,66.0,a",
		 "p.csv:2:23: num_gpus: '0.5' is not a whole number from 1 to 1048576"},
		{"no cluster", "2017-10-09 07:01:55,1,1,66.0,",
		 "p.csv:2:30: cluster: empty, not the name of a virtual cluster"},
		{"a hole", "2017-10-09 07:01:55,1", "p.csv:2: 2 fields, the header has 5"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text data = {0}, got = {0};

		text_printf(&data, "timestamp,duration,num_gpus,gpu_time,cluster\n%s\n", rows[i].row);
		philly_lines(text_str(&data), &got);
		if (!str_eq(text_str(&got), rows[i].out))
			fail_msg("%s: %s", rows[i].story, text_str(&got));
		text_free(&data);
		text_free(&got);
	}
}

/* ---- OpenB ---- */

static void openb_pod_lines(const char *data, struct text *out)
{
	struct openb_reader r;
	struct trace_input in;
	struct openb_pod pod;
	struct err e;
	bool has_pod;
	enum err_code rc;

	trace_input_memory(&in, "o.csv", data, strlen(data));
	rc = openb_pods_begin(&r, &in, &e);
	while (!rc && !(rc = openb_pod_next(&r, &pod, &has_pod, &e)) && has_pod)
		text_printf(out, "%s %lld %lld %u/%u %s %lld +%lld\n", pod.name, (long long)pod.cpu_milli,
			    (long long)pod.memory_bytes, pod.gpus, pod.gpu_milli, openb_qos_words[pod.qos],
			    (long long)(pod.created_ns / S),
			    pod.duration_ns == TIME_NONE ? -1LL : (long long)(pod.duration_ns / S));
	if (rc)
		text_add(out, e.msg);
	openb_end(&r);
}

static void SI_openb_pods_are_read(void **state)
{
	static const struct {
		const char *story, *row, *out;
	} rows[] = {
		{"a pod", "p,12000,1,1,460,,LS,Running,10,50,20", "p 12000 1048576 1/460 LS 10 +30\n"},
		{"one that never ran", "p,0,0,0,0,,BE,Pending,10,50,", "p 0 0 0/0 BE 10 +-1\n"},
		{"deleted before it was there", "p,0,0,0,0,,BE,Running,10,9,10",
		 "o.csv:2:26: deletion_time: '9' is not a whole number from 10 to 4611686018"},
		{"scheduled after it was deleted", "p,0,0,0,0,,BE,Running,10,50,51",
		 "o.csv:2:29: scheduled_time: '51' is not a whole number from 10 to 50"},
		{"a negative time", "p,0,0,0,0,,BE,Running,-10,50,51",
		 "o.csv:2:23: creation_time: '-10' is not a whole number from 0 to 4611686018"},
		{"a huge time", "p,0,0,0,0,,BE,Running,99999999999999999999,50,51",
		 "o.csv:2:23: creation_time: '99999999999999999999' is not a whole number from 0 to 4611686018"},
		{"an unknown class", "p,0,0,0,0,,XX,Running,10,50,20",
		 "o.csv:2:12: qos: 'XX' is not one of LS, Guaranteed, Burstable, BE"},
		{"more than one whole GPU of each", "p,0,0,1,1001,,BE,Running,10,50,20",
		 "o.csv:2:9: gpu_milli: '1001' is not a whole number from 0 to 1000"},
		{"no name", ",0,0,1,10,,BE,Running,10,50,20", "o.csv:2:1: name: empty, not the name of a pod"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text data = {0}, got = {0};

		text_printf(&data,
			    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
			    "deletion_time,scheduled_time\n%s\n",
			    rows[i].row);
		openb_pod_lines(text_str(&data), &got);
		if (!str_eq(text_str(&got), rows[i].out))
			fail_msg("%s: %s", rows[i].story, text_str(&got));
		text_free(&data);
		text_free(&got);
	}
}

static void SI_openb_nodes_are_read(void **state)
{
	static const char data[] = "sn,cpu_milli,memory_mib,gpu,model\na,32000,4,0,\nb,96000,8,8,G2\nc,x,8,8,G2\n";
	struct openb_reader r;
	struct trace_input in;
	struct openb_node node;
	struct err e;
	bool has_node;

	trace_input_memory(&in, "n.csv", data, strlen(data));
	assert_int_equal(openb_nodes_begin(&r, &in, &e), ERR_OK);
	assert_int_equal(openb_node_next(&r, &node, &has_node, &e), ERR_OK);
	assert_true(has_node && str_eq(node.name, "a") && str_eq(node.model, "") && node.memory_bytes == 4 << 20);
	assert_int_equal(openb_node_next(&r, &node, &has_node, &e), ERR_OK);
	assert_true(has_node && node.gpus == 8 && str_eq(node.model, "G2") && node.cpu_milli == 96000);
	assert_int_equal(openb_node_next(&r, &node, &has_node, &e), ERR_INPUT);
	assert_string_equal(e.msg, "n.csv:4:3: cpu_milli: 'x' is not a whole number from 0 to 1073741824");
	openb_end(&r);
}

/* ---- Standard Workload Format ---- */

static void swf_lines(const char *data, struct text *out)
{
	struct swf_reader r;
	struct trace_input in;
	struct swf_job job;
	struct err e;
	bool has_job;
	enum err_code rc;

	trace_input_memory(&in, "j.swf", data, strlen(data));
	swf_begin(&r, &in);
	while (!(rc = swf_next(&r, &job, &has_job, &e)) && has_job)
		text_printf(out, "%u: job %lld %lld +%lld x%u mem %lld q%lld%s\n", job.line, (long long)job.number,
			    job.submit_ns == TIME_NONE ? -1LL : (long long)(job.submit_ns / S),
			    job.duration_ns == TIME_NONE ? -1LL : (long long)(job.duration_ns / S), job.processors,
			    (long long)job.memory_bytes, (long long)job.queue, job.is_usable ? "" : " unusable");
	if (rc)
		text_add(out, e.msg);
	else
		text_printf(out, "%lld from %lld", (long long)r.n_processors, (long long)(r.start_ns / S));
	swf_end(&r);
}

static void SI_swf_is_read(void **state)
{
	static const struct {
		const char *story, *in, *out;
	} rows[] = {
		{"a job", "1 0 5 100 4 -1 -1 8 200 -1 1 3 4 -1 2 -1 -1 -1\n", "1: job 1 0 +100 x8 mem -1 q2\n0 from 0"},
		{"comments, blanks, CR LF and the machine",
		 "; Version: 2.2\r\n; UnixStartTime: 1000\n;MaxNodes: 7\n; MaxProcs: 128\n\n"
		 "  1\t0 5 100 4 -1 2 -1 200 -1 1 3 4 -1 -1 -1 -1 -1\r\n",
		 "6: job 1 0 +100 x4 mem 2048 q-1\n128 from 1000"},
		{"a run time that is not known", "1 0 5 -1 4 -1 -1 8 200 -1 1 3 4 -1 2 -1 -1 -1\n",
		 "1: job 1 0 +-1 x8 mem -1 q2 unusable\n0 from 0"},
		{"no processors", "1 0 5 10 -1 -1 -1 -1 200 -1 1 3 4 -1 2 -1 -1 -1\n",
		 "1: job 1 0 +10 x0 mem -1 q2 unusable\n0 from 0"},
		{"a negative time", "1 -5 5 10 -1 -1 -1 -1 200 -1 1 3 4 -1 2 -1 -1 -1\n",
		 "j.swf:1:3: submit time: '-5' is not a number of seconds from 0 on, or -1 for not known"},
		{"a huge time", "1 5 5 9999999999999999 -1 -1 -1 -1 200 -1 1 3 4 -1 2 -1 -1 -1\n",
		 "j.swf:1:7: run time: '9999999999999999' is not a number of seconds from 0 on, or -1 for not known"},
		{"too many processors", "1 5 5 9 99999999 -1 -1 -1 200 -1 1 3 4 -1 2 -1 -1 -1\n",
		 "j.swf:1:9: processors: '99999999' is not a number from 0 to 16777216, or -1 for not known"},
		{"words", "1 5 5 9 1 -1 -1 -1 200 -1 1 ann 4 -1 2 -1 -1 -1\n",
		 "j.swf:1:29: user: 'ann' is not a number from 0 to 2147483647, or -1 for not known"},
		{"a hole", "1 0 5 100 4\n", "j.swf:1: less than the 18 numbers of a job"},
		{"one too many", "1 0 5 100 4 -1 -1 8 200 -1 1 3 4 -1 2 -1 -1 -1 7\n",
		 "j.swf:1: more than the 18 numbers of a job"},
		{"nothing at all", "", "0 from 0"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text got = {0};

		swf_lines(rows[i].in, &got);
		if (!str_eq(text_str(&got), rows[i].out))
			fail_msg("%s: %s", rows[i].story, text_str(&got));
		text_free(&got);
	}
}

/* ---- much of it ---- */

static void SI_a_million_rows_take_the_memory_of_one(void **state)
{
	struct text data = {0};
	struct philly_reader r;
	struct trace_input in;
	struct philly_job job;
	struct err e;
	bool has_job;
	uint32_t n = 0;

	text_add(&data, "timestamp,duration,num_gpus,gpu_time,cluster\n");
	for (uint32_t i = 0; i < 1000000; i++)
		text_printf(&data, "2017-10-09 07:%02u:%02u,%u.0,1,1,c%u\n", i / 60 % 60, i % 60, i, i % 7);
	trace_input_memory(&in, "p.csv", data.s, data.n);
	assert_int_equal(philly_begin(&r, &in, &e), ERR_OK);
	while (!philly_next(&r, &job, &has_job, &e) && has_job)
		n += job.duration_ns == n * S;
	assert_int_equal(n, 1000000);
	assert_true(r.csv.words.cap < 1024 && r.csv.fields.cap <= 8);
	philly_end(&r);
	text_free(&data);
}

static void SI_what_cannot_be_opened_is_said(void **state)
{
	struct trace_input in;
	struct err e;
	struct csv c;

	assert_int_equal(trace_input_open(&in, "no/such.csv", &e), ERR_NOTFOUND);
	assert_string_equal(e.msg, "no/such.csv: No such file or directory");
	trace_input_close(&in);
	assert_int_equal(trace_input_open(&in, "/", &e), ERR_OK);
	csv_init(&c, &in);
	assert_int_equal(csv_header(&c, NULL, 0, &e), ERR_IO);
	assert_string_equal(e.msg, "/: Is a directory");
	csv_free(&c);
	trace_input_close(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_csv_is_read_strictly),
		cmocka_unit_test(SI_csv_has_limits),
		cmocka_unit_test(SI_philly_is_read),
		cmocka_unit_test(SI_openb_pods_are_read),
		cmocka_unit_test(SI_openb_nodes_are_read),
		cmocka_unit_test(SI_swf_is_read),
		cmocka_unit_test(SI_a_million_rows_take_the_memory_of_one),
		cmocka_unit_test(SI_what_cannot_be_opened_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
