/*
 * What if? Queues and settings are edited here, the server plans with them beside the plan of today, and tells what
 * would differ. Nothing is written to the cluster; what is liked can be kept as YAML.
 */
import {ApiError, get, getText, post, postText} from "../api.js";
import {el, swap} from "../dom.js";
import {amount, num, plural, quantity, said, span, titleIn} from "../format.js";
import {address, nodeLink, podLink, queueLink} from "../links.js";
import {badge, broken, card, empty, heading, loading, select, table, tiles} from "../parts.js";

export const title = "What if";

/* ---- what is thought of: it stands in the address ---- */

const emptyChange = () => ({set: {}, remove: [], drain: [], documents: ""});

function readChange(query) {
	const change = emptyChange();
	for (const s of query.getAll("set")) {
		const at = s.indexOf("=");
		if (at > 0)
			change.set[s.slice(0, at)] = s.slice(at + 1);
	}
	change.remove = query.getAll("remove");
	change.drain = query.getAll("drain");
	return change;
}

function keepAddress(change, resource) {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(change.set))
		q.append("set", `${k}=${v}`);
	change.remove.forEach(x => q.append("remove", x));
	change.drain.forEach(x => q.append("drain", x));
	if (resource)
		q.set("resource", resource);
	const text = q.toString();
	history.replaceState(null, "", "#/whatif" + (text ? "?" + text : ""));
}

const isEmpty = c => !Object.keys(c.set).length && !c.remove.length && !c.drain.length && !c.documents.trim();
const bodyOf = c => JSON.stringify({kind: "WhatIf", set: Object.entries(c.set).map(([k, v]) => `${k}=${v}`), remove: c.remove, drain: c.drain, ...(c.documents.trim() ? {documents: c.documents} : {})});

/* ---- the editors ---- */

function amountField(change, queue, what, resource, was, changed) {
	const key = `queue.${queue}.${what}.${resource}`, now = key in change.set ? change.set[key] : was || "";
	return el("input", {type: "text", class: "amount" + (key in change.set ? " changed" : ""), value: now, placeholder: what === "max" ? "no limit" : "none", size: "9", autocomplete: "off", spellcheck: "false",
		"data-key": "edit-" + key, "aria-label": `${what} ${resource} of ${queue}${was ? `, now ${was}` : ""}`, onchange: ev => {
			const v = ev.target.value.trim();
			if (v === (was || ""))
				delete change.set[key];
			else
				change.set[key] = v || "none"; /* emptied: nothing is guaranteed, nothing limits it */
			changed();
		}});
}

function queueEditor(queues, change, resource, changed, pick) {
	const types = [...new Set(queues.flatMap(q => [...Object.keys(q.guaranteed), ...Object.keys(q.max), ...Object.keys(q.used), ...Object.keys(q.wanted)]))].filter(t => t !== "pods");
	if (!types.length)
		return empty("There are no queues with anything to edit.", "A queue appears here as soon as something runs or waits in it.");
	const type = types.includes(resource) ? resource : types[0];
	return [select("resource", "Resource", types.map(t => [t, titleIn(types, t)]), type, pick),
		table("queue-editor", `Queues, their use and what they are entitled to of ${type}; amounts can be edited`, [
			{title: "Queue", text: true, show: q => el("span", {style: {"padding-left": `${(q.queue.split(".").length - 1) * 12}px`}}, queueLink(q.queue, q.queue.slice(q.queue.lastIndexOf(".") + 1)))},
			{title: "Used", show: q => amount(type, quantity(q.used[type]))},
			{title: "Waits for", show: q => amount(type, quantity(q.wanted[type]))},
			{title: "Guaranteed", show: q => amountField(change, q.queue, "guaranteed", type, q.guaranteed[type], changed)},
			{title: "Maximum", show: q => amountField(change, q.queue, "max", type, q.max[type], changed)},
		], queues, {isEdited: true})];
}

const LONGEST_VALUE = 40;

function settingEditor(settings, change, changed) {
	const field = s => {
		const was = String(s.value), now = s.key in change.set ? change.set[s.key] : was;
		return el("input", {type: "text", class: s.key in change.set ? "changed" : null, value: now, size: String(Math.min(LONGEST_VALUE, Math.max(8, was.length + 2))), autocomplete: "off", spellcheck: "false",
			"data-key": "setting-" + s.key, "aria-label": `${s.key}, now ${was}`, onchange: ev => {
				const v = ev.target.value.trim();
				if (v === was || !v)
					delete change.set[s.key];
				else
					change.set[s.key] = v;
				changed();
			}});
	};
	return table("setting-editor", "Settings in force; values can be edited", [
		{title: "Setting", text: true, show: s => el("code", {}, s.key)}, {title: "Value", text: true, show: field}, {title: "From", text: true, long: true, show: s => s.from},
	], settings, {isEdited: true});
}

function otherEditor(change, changed) {
	const lines = (name, label, hint) => el("label", {class: "field"}, el("span", {class: "label"}, label), el("textarea", {rows: "2", "data-key": "other-" + name, placeholder: hint, spellcheck: "false", onchange: ev => {
		change[name] = ev.target.value.split(/[\s,]+/).filter(Boolean);
		changed();
	}}, change[name].join("\n")));
	return el("div", {class: "fields"}, lines("remove", "Without these pods, groups or workloads", "namespace/name"), lines("drain", "With these nodes drained", "node"));
}

function documentEditor(change, changed, signal) {
	const area = el("textarea", {class: "mono", rows: "14", id: "documents", "data-key": "documents", spellcheck: "false", placeholder: "apiVersion: …  one or more documents, as cede plan -f takes them", onchange: ev => {
		change.documents = ev.target.value;
		changed();
	}}, change.documents);
	const say = el("p", {class: "say", role: "status"});
	const fill = async () => {
		say.replaceChildren("Loading…");
		try {
			area.value = await getText("/api/v1/settings", {}, signal);
			change.documents = area.value;
			say.replaceChildren("These are the settings and queues in force. Change what you like.");
			changed();
		} catch (error) {
			say.replaceChildren(error.message);
		}
	};
	return [el("label", {for: "documents"}, "Documents that take the place of those of their kind and name: settings, queues, or a job that is not there yet"), area,
		el("div", {class: "controls"}, el("button", {type: "button", onclick: fill}, "Start from what is in force")), say];
}

/* ---- the difference ---- */

const reasonOf = v => [v.action && badge("plain", v.action), " ", v.reason || ""];

function evictionTable(key, caption, rows) {
	return table(key, caption, [
		{title: "Pod", text: true, show: v => podLink(v.pod)}, {title: "Queue", text: true, show: v => v.queue && queueLink(v.queue)}, {title: "Node", text: true, show: v => v.node && nodeLink(v.node)},
		{title: "Makes room for", text: true, show: v => v.for && (v.for.pod ? podLink(v.for.pod) : v.for.queue && queueLink(v.for.queue))},
		{title: "Work lost", show: v => span(v.lostSeconds || 0)}, {title: "Why", text: true, long: true, show: reasonOf},
	], rows.slice(0, 500));
}

function answerText(a) {
	if (!a)
		return "no answer";
	return [badge({placed: "good", nominated: "good", waiting: "warn"}[a.outcome] || "plain", a.outcome || "–"), a.node && [" on ", nodeLink(a.node)], a.action && a.action !== "allocate" ? ` by ${a.action}` : "", a.message ? el("span", {class: "why"}, a.message) : ""];
}

function countTile(d, key, name, worse) {
	const was = d.today[key], is = d.then[key], by = is - was;
	return {title: name, value: num(is), tone: by && worse ? (by > 0 ? "bad" : null) : null, note: by ? `${by > 0 ? "+" : "−"}${num(Math.abs(by))}, today ${num(was)}` : `as today`};
}

function difference(d) {
	const news = d.newlyEvicted, spared = d.notEvicted, others = d.otherAnswers, reasons = d.otherReasons || [];
	const same = !news.length && !spared.length && !others.length && !reasons.length;
	return [
		tiles([countTile(d, "victims", "Have to go", true), countTile(d, "placed", "Start at once"), countTile(d, "nominated", "Get room"), countTile(d, "waiting", "Keep waiting", true)]),
		same && empty("Nothing would differ.", "The plan with these changes is the plan of today."),
		news.length > 0 && card("newly", "Evictions that appear", plural(news.length, "pod"), evictionTable("newly-rows", "Pods that would have to go", news)),
		spared.length > 0 && card("spared", "Evictions that vanish", plural(spared.length, "pod"), evictionTable("spared-rows", "Pods that would stay", spared)),
		others.length > 0 && card("answers", "Other answers", "Pods that wait and would be told something else.", table("answer-rows", "Decisions that differ", [
			{title: "Pod", text: true, show: o => o.pod && podLink(o.pod)}, {title: "Queue", text: true, show: o => o.queue && queueLink(o.queue)},
			{title: "Today", text: true, long: true, show: o => answerText(o.was)}, {title: "Then", text: true, long: true, show: o => answerText(o.now)},
		], others.slice(0, 500))),
		reasons.length > 0 && card("reasons", "Evicted for somebody else", null, table("reason-rows", "Evictions with another reason", [
			{title: "Pod", text: true, show: o => podLink(o.pod)}, {title: "Today for", text: true, show: o => o.was.pod ? podLink(o.was.pod) : o.was.action},
			{title: "Then for", text: true, show: o => o.now.pod ? podLink(o.now.pod) : o.now.action},
		], reasons.slice(0, 500))),
	];
}

function download(text, name) {
	const url = URL.createObjectURL(new Blob([text], {type: "application/yaml"}));
	const a = el("a", {href: url, download: name});
	document.body.append(a);
	a.click();
	a.remove();
	URL.revokeObjectURL(url);
}

/* ---- the view ---- */

function changeList(change, drop) {
	const rows = [...Object.entries(change.set).map(([k, v]) => [`${k} = ${v}`, () => delete change.set[k]]),
		...change.remove.map(x => [`without ${x}`, () => change.remove.splice(change.remove.indexOf(x), 1)]), ...change.drain.map(x => [`${x} drained`, () => change.drain.splice(change.drain.indexOf(x), 1)]),
		...(change.documents.trim() ? [["the documents below", () => change.documents = ""]] : [])];
	if (!rows.length)
		return el("p", {class: "say"}, "Nothing is changed yet. Edit an amount, a setting, or add documents.");
	return el("ul", {class: "changes"}, rows.map(([text, remove], i) => el("li", {}, el("code", {}, text), " ", el("button", {type: "button", class: "quiet", "data-key": "drop-" + i, "aria-label": `Take back: ${text}`, onclick: () => {
		remove();
		drop();
	}}, "Take back"))));
}

export async function render(root, params, signal) {
	const change = readChange(params.query);
	let resource = params.query.get("resource") || "";
	const [queues, config] = await Promise.all([get("/api/v1/queues", {}, signal), get("/configz", {}, signal)]);
	const result = el("div", {id: "difference", class: "view", "aria-live": "polite"});

	const changed = () => {
		keepAddress(change, resource);
		result.replaceChildren();
		draw();
	};
	const plan = async () => {
		swap(result, loading("both plans"));
		try {
			swap(result, difference(await post("/api/v1/whatif", bodyOf(change), signal)));
		} catch (error) {
			if (!signal.aborted)
				swap(result, failed(error));
		}
	};
	const failed = error => error instanceof ApiError && error.status === 400 ? broken("That cannot be.", said(error.message.replace(/^--set /, ""))) :
		broken(error.status === 503 ? "The server is busy." : "The server could not answer.", said(error.message), el("button", {type: "button", onclick: plan}, "Try again"));
	const save = async () => {
		try {
			download(await postText("/api/v1/whatif?output=yaml", bodyOf(change), signal), "cede-whatif.yaml");
		} catch (error) {
			if (!signal.aborted)
				swap(result, failed(error));
		}
	};
	const reset = () => {
		Object.assign(change, emptyChange());
		changed();
	};
	const draw = () => swap(root, heading("What if", "Edit queues or settings, and see what would differ. Nothing is written to the cluster."),
		card("thought", "Changes", null, changeList(change, changed),
			el("div", {class: "controls"},
				el("button", {type: "button", class: "main", id: "plan", disabled: isEmpty(change), onclick: plan}, "See the difference"),
				el("button", {type: "button", id: "save", disabled: isEmpty(change), onclick: save}, "Download as YAML"),
				el("button", {type: "button", class: "quiet", id: "reset", disabled: isEmpty(change), onclick: reset}, "Start again"))),
		result,
		card("queues", "Queues", "What each is guaranteed and may use at most.", queueEditor(queues.items, change, resource, changed, v => {
			resource = v;
			changed();
		})),
		el("details", {class: "card", "data-key": "settings"}, el("summary", {}, el("h2", {}, "Settings")), settingEditor(config.settings, change, changed)),
		el("details", {class: "card", "data-key": "others"}, el("summary", {}, el("h2", {}, "Pods that go, nodes that are drained")), otherEditor(change, changed)),
		el("details", {class: "card", "data-key": "yaml"}, el("summary", {}, el("h2", {}, "As YAML")), documentEditor(change, changed, signal)));
	draw();
	if (!isEmpty(change))
		plan();
}
