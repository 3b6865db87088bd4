/*
 * Elements, one by one. Everything that comes from a cluster is text: no markup is ever parsed, and addresses lead into
 * this page alone.
 */

const SVG = "http://www.w3.org/2000/svg";
const SAFE_ADDRESS = /^(#|\/|blob:)/;

function addAll(parent, children) {
	for (const c of children.flat(Infinity))
		if (c !== null && c !== undefined && c !== false)
			parent.append(c instanceof Node ? c : document.createTextNode(String(c)));
	return parent;
}

function setAll(node, attrs) {
	for (const [key, value] of Object.entries(attrs || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on")) {
			if (typeof value !== "function")
				throw new TypeError(`${key}: expected a function`);
			node.addEventListener(key.slice(2), value);
		} else if (key === "style") { /* {property: value}: the policy forbids style attributes */
			for (const [property, v] of Object.entries(value))
				node.style.setProperty(property, v);
		} else if ((key === "href" || key === "src") && !SAFE_ADDRESS.test(value)) {
			throw new TypeError(`${key}: leads out of this page`);
		} else {
			node.setAttribute(key, value === true ? "" : value);
		}
	}
	return node;
}

/* el("a", {href: "#/queues", class: "x", onclick: f, style: {width: "3px"}}, "text", el(...), [more], null) */
export const el = (tag, attrs, ...children) => addAll(setAll(document.createElement(tag), attrs), children);
export const svg = (tag, attrs, ...children) => addAll(setAll(document.createElementNS(SVG, tag), attrs), children);

function keyOf(node) {
	return node.id ? "#" + node.id : node.dataset && node.dataset.key ? "." + node.dataset.key : null;
}

/* By comparison, not by a selector: keys may be names from a cluster. */
function findKey(root, key) {
	if (!key)
		return null;
	for (const node of root.querySelectorAll("[id], [data-key]"))
		if (keyOf(node) === key)
			return node;
	return null;
}

/* What was entered is the page's business from then on; only what is still being typed is kept. */
document.addEventListener("change", ev => {
	if ("defaultValue" in ev.target)
		ev.target.defaultValue = ev.target.value;
}, true);

/* What stands in a field that somebody is in, and where: {value: null where it was not changed, from, to}. */
function typedIn(field) {
	const isText = field.matches("textarea, input[type=text], input[type=search], input[type=password]");
	return isText ? {value: field.value === field.defaultValue ? null : field.value, from: field.selectionStart, to: field.selectionEnd} : null;
}

function typeAgain(field, typed) {
	if (!typed || !("selectionStart" in field))
		return;
	if (typed.value !== null)
		field.value = typed.value;
	field.setSelectionRange(typed.from, typed.to);
}

/*
 * New content for an element. What has an id or data-key and is there again keeps the focus and what is being typed, stays
 * open (details) and scrolled where it was: a view that draws itself anew does not disturb who works in it.
 */
export function swap(root, ...children) {
	const active = document.activeElement;
	const focus = active && root !== active && root.contains(active) ? keyOf(active) : null, typed = focus && typedIn(active);
	const open = [], scrolled = [];
	for (const d of root.querySelectorAll("details[open]"))
		open.push(keyOf(d));
	for (const s of root.querySelectorAll(".scroll"))
		if (s.scrollTop || s.scrollLeft)
			scrolled.push([keyOf(s), s.scrollTop, s.scrollLeft]);
	root.replaceChildren();
	addAll(root, children);
	for (const key of open) {
		const d = findKey(root, key);
		if (d)
			d.open = true;
	}
	for (const [key, top, left] of scrolled) {
		const s = findKey(root, key);
		if (s)
			s.scrollTo(left, top);
	}
	const again = findKey(root, focus);
	if (again) {
		again.focus({preventScroll: true});
		typeAgain(again, typed);
	}
	return root;
}

/* ---- a tooltip: for the mouse alone, says nothing that is not elsewhere too ---- */

export function showTip(x, y, ...children) {
	const tip = document.getElementById("tip");
	tip.replaceChildren();
	addAll(tip, children);
	tip.hidden = false;
	const w = tip.offsetWidth, h = tip.offsetHeight;
	const left = x + 16 + w > innerWidth ? x - w - 12 : x + 16;
	tip.style.setProperty("left", Math.max(4, left) + "px");
	tip.style.setProperty("top", Math.max(4, Math.min(y - 10, innerHeight - h - 6)) + "px");
}

export function hideTip() {
	document.getElementById("tip").hidden = true;
}
