# SPDX-License-Identifier: Apache-2.0
"""What every view of the console has to pass, asked of the page as it stands: one list of complaints, empty where all is well.

Names of controls, order of headings, landmarks, ids, tables, contrast (WCAG AA, as computed from what is painted), width
(from 1,000 pixels on no table is cut off either; reports may have wider ones), and that the focus goes through everything in the order of the document and
can be seen.
"""

CHECKS = r"""
(() => {
const bad = [];
const visible = n => { const s = getComputedStyle(n), r = n.getBoundingClientRect(); return s.visibility !== "hidden" && s.display !== "none" && r.width > 0 && r.height > 0; };
const where = n => `<${n.tagName.toLowerCase()}${n.id ? " id=" + n.id : ""}${n.getAttribute("class") ? " class=" + n.getAttribute("class") : ""}> ${(n.textContent || "").trim().slice(0, 40)}`;

/* ---- names ---- */
const nameOf = n => {
	const by = n.getAttribute("aria-labelledby");
	if (by) return by.split(/\s+/).map(i => (document.getElementById(i) || {textContent: ""}).textContent).join(" ").trim();
	if (n.getAttribute("aria-label")) return n.getAttribute("aria-label").trim();
	if (n.labels && n.labels.length) return [...n.labels].map(l => l.textContent).join(" ").trim();
	if (n.tagName === "IMG") return (n.getAttribute("alt") || "").trim();
	const title = n.querySelector && n.querySelector("title");
	return (n.textContent || (title && title.textContent) || n.getAttribute("title") || "").trim();
};
for (const n of document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=button], [role=region], [role=group], [role=img], [role=grid], [tabindex='0'], nav, canvas"))
	if (visible(n) && !nameOf(n)) bad.push("no name: " + where(n));
for (const n of document.querySelectorAll("svg"))
	if (visible(n) && n.getAttribute("aria-hidden") !== "true" && !(n.getAttribute("role") === "img" && nameOf(n))) bad.push("a picture without words: " + where(n));
for (const n of document.querySelectorAll("img"))
	if (!n.hasAttribute("alt")) bad.push("no alt: " + where(n));

/* ---- structure ---- */
const heads = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(n => n.getClientRects().length).map(n => Number(n.tagName[1]));
if (heads.filter(h => h === 1).length !== 1) bad.push(`h1: ${heads.filter(h => h === 1).length} of them`);
if (heads.length && heads[0] !== 1) bad.push("the first heading is no h1");
heads.forEach((h, i) => { if (i && h > heads[i - 1] + 1) bad.push(`a heading jumps from h${heads[i - 1]} to h${h}`); });
for (const [tag, n] of [["main", 1], ["nav", 1], ["header", 1]])
	if (document.querySelectorAll(tag).length < n) bad.push(`no landmark ${tag}`);
if (document.querySelectorAll("main").length !== 1) bad.push("main: not one");
if (!document.documentElement.lang) bad.push("no language");
if (!document.title) bad.push("no title");
const ids = new Map();
for (const n of document.querySelectorAll("[id]")) ids.set(n.id, (ids.get(n.id) || 0) + 1);
for (const [id, n] of ids) if (n > 1) bad.push(`id ${id}: ${n} times`);
for (const a of ["aria-labelledby", "aria-describedby", "aria-controls", "for"])
	for (const n of document.querySelectorAll(`[${a}]`))
		for (const id of n.getAttribute(a).split(/\s+/))
			if (!document.getElementById(id)) bad.push(`${a} leads nowhere: ${where(n)}`);
for (const t of document.querySelectorAll("table")) {
	if (!t.caption || !t.caption.textContent.trim()) bad.push("a table without caption: " + where(t));
	for (const th of t.querySelectorAll("thead th")) { if (th.scope !== "col") bad.push("a column without scope: " + where(th)); if (!th.closest(".report") && !nameOf(th)) bad.push("a column without a name: " + where(t)); }
	for (const th of t.querySelectorAll("tbody th")) if (th.scope !== "row") bad.push("a row without scope: " + where(th));
}
for (const l of document.querySelectorAll("ul, ol"))
	for (const c of l.children) if (c.tagName !== "LI") bad.push("no item of a list: " + where(c));
for (const n of document.querySelectorAll("[tabindex]")) if (n.tabIndex > 0) bad.push("a tabindex that jumps the queue: " + where(n));
for (const n of document.querySelectorAll("[aria-hidden=true]"))
	if (n.matches("a[href], button, input, select, [tabindex='0']") || n.querySelector("a[href], button, input, select, [tabindex='0']")) bad.push("hidden, but can have the focus: " + where(n));

/* ---- contrast ---- */
const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] === undefined ? 1 : m[3]] : [m[0], m[1], m[2], m[3] === undefined ? 1 : m[3]]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const lum = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
const ratio = (a, b) => { const x = lum(a), y = lum(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
const ground = n => {
	const stack = [];
	for (let p = n; p; p = p.parentElement) { const c = parse(getComputedStyle(p).backgroundColor); if (c[3] > 0) stack.push(c); if (c[3] === 1) break; }
	let g = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
	for (const c of stack.reverse()) g = over(c, g);
	return g;
};
const seen = new Set();
let measured = 0;
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
	const n = walk.currentNode.parentElement;
	if (!walk.currentNode.data.trim() || seen.has(n) || !visible(n) || n.closest(".hidden, .skip, [hidden], noscript, script, style")) continue;
	seen.add(n);
	const s = getComputedStyle(n), isSvg = n instanceof SVGElement;
	const ink = parse(isSvg ? s.fill : s.color), g = ground(isSvg ? n.ownerSVGElement.parentElement : n), size = parseFloat(s.fontSize), bold = Number(s.fontWeight) >= 700;
	if (n.closest(":disabled") || (isSvg && n.dataset.on)) continue;
	measured++;
	const need = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5, r = ratio(over(ink, g), g);
	if (r < need) bad.push(`contrast ${r.toFixed(2)} < ${need}: ${where(n)} ${s.color} on ${g.map(Math.round)}`);
}
for (const n of document.querySelectorAll("button, input, select, textarea")) {
	if (!visible(n) || n.disabled || n.matches(".quiet, th button")) continue;
	const s = getComputedStyle(n), g = ground(n.parentElement), edge = parse(s.borderTopColor), fill = parse(s.backgroundColor);
	if (Math.max(edge[3] && parseFloat(s.borderTopWidth) ? ratio(over(edge, g), g) : 0, ratio(over(fill, g), g)) < 3) bad.push("a control whose edge cannot be seen: " + where(n));
}
if (measured < 5) bad.push("hardly any text was measured");

/* ---- width ---- */
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth) {
	const who = [...document.querySelectorAll("main *")].filter(n => n.getBoundingClientRect().right > innerWidth + 1 && !n.closest(".scroll")).map(where);
	bad.push(`scrolls horizontally: ${wide} of ${innerWidth}: ${who[0]}`);
}
if (innerWidth >= 1000)
	for (const n of document.querySelectorAll(".scroll"))
		if (n.scrollWidth > n.clientWidth + 1 && !n.closest(".report")) bad.push(`a table is cut off, ${n.scrollWidth} of ${n.clientWidth}: ${n.getAttribute("aria-label")}`);
return bad;
})()
"""

FOCUSABLE = r"""
[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(n => n.getClientRects().length && !n.disabled &&
	getComputedStyle(n).visibility !== "hidden" && !(n.closest("details:not([open])") && n.tagName !== "SUMMARY"))
"""


def complaints(page):
    return page.js(CHECKS)


def focus_order(page, most=60):
    """Tab goes through what can have the focus in the order of the document, and one sees where it is."""
    page.js("(document.activeElement || document.body).blur(); document.body.setAttribute('tabindex', '-1'); document.body.focus(); document.body.removeAttribute('tabindex')")
    expected = min(page.js(FOCUSABLE + ".length"), most)
    bad, last = [], -1
    for _ in range(expected):
        page.key("Tab")
        at, outline, name = page.js("(() => { const all = " + FOCUSABLE.strip() + """, n = document.activeElement, s = getComputedStyle(n);
            return [all.indexOf(n), s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0, n.outerHTML.slice(0, 120)]; })()""")
        if at < 0:
            bad.append(f"the focus is lost after {last}: {name}")
            break
        if at != last + 1:
            bad.append(f"the focus jumps from {last} to {at}: {name}")
        if not outline:
            bad.append(f"the focus cannot be seen: {name}")
        last = at
    return bad


def everywhere(s, page, name, widths=(400, 1000, 1400, 2000)):
    """All of it, in both themes and at all widths; the page is at 1,400 pixels and light afterwards."""
    for dark in (False, True):
        page.theme(dark)
        for width in widths:
            page.size(width)
            s.equal(f"{name}: nothing to complain about, {'dark' if dark else 'light'}, {width} pixels", complaints(page), [])
    page.theme(False)
    page.size(1400)
    s.equal(f"{name}: the focus goes through it in order and is seen", focus_order(page), [])
