/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/plugins.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/array.h"
#include "manifest/plugin_file.h"

#define SYMBOL "cede_plugin"

enum { NAME_MAX_LEN = 63, WHY_MAX = 256 };

struct plugins {
	ARRAY(struct framework_plugin) loaded;
	ARRAY(void *) handles; /* of them */
	ARRAY(int) files;      /* of them; open, because the loader knows files by names that hold these numbers */
	ARRAY(char *) complaints;
};

/* ---- paths ---- */

/* The part of "folder/cede.yaml:12:5" up to the last slash of the file; nothing for a file in the current folder. */
static size_t folder_len(const char *where)
{
	const char *end = where + strlen(where), *slash = where;

	for (int colons = 0; end > where && colons < 2;)
		colons += *--end == ':';
	for (const char *at = where; at < end; at++)
		if (*at == '/')
			slash = at + 1;
	return (size_t)(slash - where);
}

/* Never a bare name: the loader would look for that in its own folders. */
static void path_of(const struct plugin_file *f, struct text *out)
{
	if (f->path[0] != '/') {
		size_t len = f->where ? folder_len(f->where) : 0;

		text_add_n(out, len ? f->where : "./", len ? len : 2);
	}
	text_add(out, f->path);
}

/* ---- complaints ---- */

static void complain(struct plugins *p, const struct plugin_file *f, const char *why)
{
	struct text t = {0};

	text_printf(&t, "%s%splugin %s: %s; it is not loaded", f->where ? f->where : "", f->where ? ": " : "", f->path,
		    why);
	array_push(&p->complaints, mem_strdup(text_str(&t)));
	text_free(&t);
}

/* The loader's words, which begin with the path. */
static const char *loader_words(const char *path)
{
	const char *s = dlerror();
	size_t len = strlen(path);

	if (!s)
		return "it cannot be loaded";
	return !strncmp(s, path, len) && !strncmp(s + len, ": ", 2) ? s + len + 2 : s;
}

/* ---- one plugin ---- */

static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < '!' || *s > '~')
			return false;
	return true;
}

static bool is_name(const char *s)
{
	return s && *s && strlen(s) <= NAME_MAX_LEN && is_plain(s);
}

static bool is_builtin(const char *name)
{
	for (size_t i = 0; i < builtin_plugin_count; i++)
		if (str_eq(builtin_plugins[i]->name, name))
			return true;
	return false;
}

static bool is_loaded(const struct plugins *p, const char *name)
{
	for (uint32_t i = 0; i < p->loaded.n; i++)
		if (str_eq(p->loaded.v[i].table->name, name))
			return true;
	return false;
}

/* What is wrong with a table, NULL if nothing is. Of one of another version nothing but its version can be read. */
static const char *table_fault(const struct plugins *p, const struct cede_plugin *t, struct text *words)
{
	text_reset(words);
	if (t->abi != CEDE_PLUGIN_ABI)
		text_printf(words, "it was written for version %u of the interface, this is version %d", t->abi,
			    CEDE_PLUGIN_ABI);
	else if (!is_name(t->name))
		text_printf(words, "its name must be 1 to %d visible characters", NAME_MAX_LEN);
	else if (is_builtin(t->name))
		text_printf(words, "it calls itself %s, as one of cede's own does", t->name);
	else if (is_loaded(p, t->name))
		text_printf(words, "it calls itself %s, as another does", t->name);
	else
		return NULL;
	return text_str(words);
}

static bool create(const struct cede_plugin *t, const struct plugin_file *f, void **ret_self, struct text *words)
{
	struct cede_arg *args = mem_alloc((f->n_args + 1) * sizeof(*args));
	char why[WHY_MAX] = "";
	bool is_made = true;

	for (uint32_t i = 0; i < f->n_args; i++)
		args[i] = (struct cede_arg){f->arg_keys[i], f->arg_values[i]};
	*ret_self = NULL;
	if (t->create)
		is_made = t->create(args, f->n_args, ret_self, why, sizeof(why));
	why[sizeof(why) - 1] = '\0';
	mem_free(args);
	text_reset(words);
	if (!is_made)
		text_printf(words, "it cannot be set up: %s", why[0] ? why : "it does not say why");
	return is_made;
}

/*
 * A plugin that may not be unloaded (some say so) keeps its name with the loader, which would give it out for the next
 * file under that number: so the number stays taken.
 */
static void unload(void *handle, int fd)
{
	struct text name = {0};
	void *still;

	plugin_file_name(fd, &name);
	dlclose(handle);
	still = dlopen(text_str(&name), RTLD_NOW | RTLD_NOLOAD);
	if (still)
		dlclose(still);
	else
		close(fd);
	text_free(&name);
}

static void use(struct plugins *p, void *handle, int fd, const struct plugin_file *f)
{
	const struct cede_plugin *t = dlsym(handle, SYMBOL);
	struct framework_plugin one = {.table = t};
	struct text words = {0};
	const char *fault = t ? table_fault(p, t, &words) : "it does not export a table called " SYMBOL;

	if (!fault && !create(t, f, &one.self, &words))
		fault = text_str(&words);
	if (fault) {
		complain(p, f, fault);
		unload(handle, fd);
	} else {
		array_push(&p->loaded, one);
		array_push(&p->handles, handle);
		array_push(&p->files, fd);
	}
	text_free(&words);
}

static void load_file(struct plugins *p, int fd, const struct plugin_file *f)
{
	struct text name = {0};
	void *handle;

	plugin_file_name(fd, &name);
	handle = dlopen(text_str(&name), RTLD_NOW | RTLD_LOCAL);
	if (handle) {
		use(p, handle, fd, f);
	} else {
		complain(p, f, loader_words(text_str(&name)));
		close(fd);
	}
	text_free(&name);
}

static void load(struct plugins *p, const struct plugin_file *f)
{
	struct text path = {0}, why = {0};
	int fd;

	path_of(f, &path);
	fd = plugin_file_open(text_str(&path), &why);
	if (fd >= 0)
		load_file(p, fd, f);
	else
		complain(p, f, text_str(&why));
	text_free(&path);
	text_free(&why);
}

/* ---- all of them ---- */

struct plugins *plugins_load(const struct engine_config *c)
{
	struct plugins *p = mem_alloc(sizeof(*p));

	for (uint32_t i = 0; i < c->n_plugins; i++)
		load(p, &c->plugins[i]);
	return p;
}

const struct framework_plugin *plugins_loaded(const struct plugins *p, uint32_t *ret_n)
{
	*ret_n = p->loaded.n;
	return p->loaded.v;
}

uint32_t plugins_complaint_count(const struct plugins *p)
{
	return p->complaints.n;
}

const char *plugins_complaint(const struct plugins *p, uint32_t i)
{
	return p->complaints.v[i];
}

void plugins_free(struct plugins *p)
{
	if (!p)
		return;
	for (uint32_t i = p->loaded.n; i-- > 0;) {
		const struct framework_plugin *one = &p->loaded.v[i];

		if (one->table->destroy)
			one->table->destroy(one->self);
		unload(p->handles.v[i], p->files.v[i]);
	}
	for (uint32_t i = 0; i < p->complaints.n; i++)
		mem_free(p->complaints.v[i]);
	array_free(&p->loaded);
	array_free(&p->handles);
	array_free(&p->files);
	array_free(&p->complaints);
	mem_free(p);
}
