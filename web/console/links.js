/* Addresses inside of the page, and links to things by their names. */
import {el} from "./dom.js";
import {routeOf} from "./routes.js";

/* address("queues", ["root.a"], {tab: "pods"}): "#/queues/root.a?tab=pods" */
export function address(view, parts, query) {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(query || {}))
		if (v !== undefined && v !== null && v !== "")
			q.set(k, v);
	const text = q.toString();
	return "#/" + [view, ...(parts || []).map(encodeURIComponent)].join("/") + (text ? "?" + text : "");
}

/* {view, parts, query}, or null where the hash is no address of a view. */
export function parse(hash) {
	const m = /^#\/([^?]*)(?:\?(.*))?$/.exec(hash);
	if (!m)
		return null;
	const parts = m[1].split("/").map(p => {
		try {
			return decodeURIComponent(p);
		} catch {
			return p;
		}
	});
	return {view: parts[0], parts: parts.slice(1).filter(Boolean), query: new URLSearchParams(m[2] || "")};
}

/* Text where there is no such view. */
function link(view, parts, query, text, attrs) {
	return routeOf(view) ? el("a", {href: address(view, parts, query), ...attrs}, text) : el("span", attrs || {}, text);
}

const LONG = 28;

/* A short name stays in one line; a long one may be broken, after its dots and slashes before all else. */
function nameLink(view, parts, name) {
	const isLong = name.length > LONG, pieces = isLong ? name.split(/(?<=[./])/) : [name];
	return link(view, parts, null, pieces.map((p, i) => [i > 0 && el("wbr"), p]), {class: isLong ? "name long" : "name"});
}

export const queueLink = (queue, text) => nameLink("queues", [queue], text || queue);
export const nodeLink = (node, text) => nameLink("nodes", [node], text || node);
/* name is "ns/name" */
export const podLink = (name, text) => nameLink("pod", name.split("/"), text || name);
export const groupLink = (name, text) => nameLink("group", name.split("/"), text || name);
export const timelineLink = (query, text) => routeOf("timeline") ? link("timeline", [], query, text) : null;
