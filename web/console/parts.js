/* What views are made of: titles, cards, tiles, tables, states. */
import {el} from "./dom.js";
import {num} from "./format.js";

/* The title of a view. Every view has one h1, cards have an h2, what stands in them an h3. */
export const heading = (title, say, ...controls) =>
	el("div", {class: "heading"}, el("div", {}, el("h1", {tabindex: "-1"}, title), say && el("p", {class: "say"}, say)), controls.length > 0 && el("div", {class: "controls"}, controls));

/* id must be unique in the view, and no name from a cluster. */
export const card = (id, title, say, ...children) =>
	el("section", {class: "card", id, "aria-labelledby": id + "-title"}, el("h2", {id: id + "-title"}, title), say && el("p", {class: "say"}, say), children);

/* [{title, value, note, tone: good|bad|warn, href}] */
export const tiles = items => el("dl", {class: "tiles"}, items.filter(Boolean).map(t =>
	el("div", {class: "tile" + (t.tone ? " " + t.tone : "")}, el("dt", {}, t.title),
		el("dd", {}, el("span", {class: "value"}, t.value), t.note && el("small", {}, t.note)))));

/* Colour is never alone: the mark says the same. */
const MARKS = {good: "✓", warn: "!", bad: "✕", plain: "·"};
export const badge = (tone, text) => el("span", {class: "badge " + tone}, el("span", {"aria-hidden": "true", class: "mark"}, MARKS[tone] || "·"), text);

/*
 * columns: {title, text: true for words, show: row -> what is written, long: sentences, wrap: a few words that may stand
 * below each other}. The first is the row's header; one without a title is of bars. key: stable for a redraw. Where it is
 * wider than the page it scrolls in itself; on a narrow screen each row becomes a block of lines, for which the roles are
 * said and every cell knows its title.
 */
export function table(key, caption, columns, rows, options = {}) {
	const kind = c => [c.text && "text", c.long && "long", c.wrap && "wrap"].filter(Boolean).join(" ") || null;
	const cell = (c, row, i) => i === 0 ? el("th", {class: kind(c), scope: "row", role: "rowheader"}, c.show(row)) : el("td", {class: kind(c), role: "cell", "data-title": c.title}, el("div", {class: "cell"}, c.show(row)));
	return el("div", {class: "scroll", "data-key": key, tabindex: "0", role: "region", "aria-label": caption},
		el("table", {class: options.isEdited ? "stack edit" : "stack", role: "table"}, el("caption", {class: options.showCaption ? null : "hidden"}, caption),
			el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, columns.map(c => el("th", {scope: "col", role: "columnheader", class: kind(c)}, c.title || el("span", {class: "hidden"}, "As a bar"))))),
			el("tbody", {role: "rowgroup"}, rows.map(r => el("tr", {role: "row", class: options.rowClass ? options.rowClass(r) : null}, columns.map((c, i) => cell(c, r, i)))))));
}

/* The numbers behind a picture, made when somebody opens them. */
export function tableBehind(key, caption, columns, rows) {
	const d = el("details", {"data-key": key}, el("summary", {}, "As a table"));
	d.addEventListener("toggle", () => {
		if (d.open && d.childNodes.length === 1)
			d.append(table(key + "-rows", caption, columns, rows));
	});
	return d;
}

/* "showing 50 of 1,234" and a button for more. onMore: null where there is no more. */
export const pager = (key, shown, total, what, onMore) => el("p", {class: "pager"},
	`Showing ${num(shown)} of ${num(total)} ${what}.`, onMore && " ", onMore && el("button", {type: "button", "data-key": key, onclick: onMore}, "Show more"));

/* One of several: a group of buttons. choices: [[value, text]] */
export const choice = (key, label, choices, value, pick) => el("div", {class: "choice", role: "group", "aria-label": label},
	el("span", {class: "label", "aria-hidden": "true"}, label),
	choices.map(([v, text]) => el("button", {type: "button", "data-key": key + "-" + v, "aria-pressed": String(v === value), onclick: () => pick(v)}, text)));

export const select = (key, label, choices, value, pick) => el("label", {class: "choice"}, el("span", {class: "label"}, label),
	el("select", {"data-key": key, onchange: ev => pick(ev.target.value)}, choices.map(([v, text]) => el("option", {value: v, selected: v === value}, text))));

/* ---- states ---- */

export const loading = what => el("div", {class: "state", role: "status"}, el("span", {class: "spinner", "aria-hidden": "true"}), el("p", {}, `Loading ${what}…`));
export const empty = (title, say, ...more) => el("div", {class: "state empty"}, el("p", {class: "state-title"}, title), say && el("p", {class: "say"}, say), more);
export const broken = (title, say, ...more) => el("div", {class: "state broken", role: "alert"}, el("p", {class: "state-title"}, title), say && el("p", {}, say), more);
