/*
 * A map of nodes on a canvas: one square each, filled from below by what is in use, coloured by what is asked for. What is
 * out of order carries a sign, so that colour is never alone. Thousands of squares are painted in a few milliseconds, and
 * only what changed is painted again. The mouse reads a square, a click opens it; so do the arrow keys and Enter.
 */
import {el, hideTip, showTip} from "./dom.js";

export const CORDONED = 1, NOT_READY = 2, OVERBOOKED = 4, MISSING = 8, LEAVING = 16;
const GAP = 2, LARGEST = 128, LARGE = 24, SMALLEST = 9, NAMED = 74;

/* As large as fits into this width and about this height. */
function layout(n, width, height) {
	let size = Math.floor(Math.sqrt(width * height / Math.max(1, n)));
	size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(width / 3) - 8, size));
	const gap = size > 40 ? 8 : GAP, columns = Math.max(1, Math.min(n, Math.floor((width + gap) / (size + gap))));
	return {size, gap, columns, rows: Math.ceil(n / columns), step: size + gap};
}


/* light-dark() is not computed in custom properties: an element has to wear the colour. */
function colours(names) {
	const probe = el("span", {hidden: true});
	document.body.append(probe);
	const found = {};
	for (const n of names) {
		probe.style.setProperty("color", `var(${n})`);
		found[n] = getComputedStyle(probe).color;
	}
	probe.remove();
	return found;
}

/* On every colour: its ink has a rim of the ground. */
function sign(ctx, flags, x, y, size, ink, ground) {
	const s = Math.max(5, Math.min(14, size * 0.55)), cx = x + size / 2, cy = y + size / 2;
	ctx.lineCap = "round";
	ctx.beginPath();
	if (flags & (NOT_READY | MISSING)) { /* a cross */
		ctx.moveTo(cx - s / 2, cy - s / 2);
		ctx.lineTo(cx + s / 2, cy + s / 2);
		ctx.moveTo(cx + s / 2, cy - s / 2);
		ctx.lineTo(cx - s / 2, cy + s / 2);
	} else if (flags & OVERBOOKED) { /* an exclamation mark */
		ctx.moveTo(cx, cy - s / 2);
		ctx.lineTo(cx, cy + s / 8);
		ctx.moveTo(cx, cy + s / 3);
		ctx.lineTo(cx, cy + s / 2);
	} else if (flags & CORDONED) { /* a bar */
		ctx.moveTo(x + size * 0.15, y + size * 0.85);
		ctx.lineTo(x + size * 0.85, y + size * 0.15);
	}
	for (const [paint, width] of [[ground, size > 30 ? 6 : 3.6], [ink, size > 30 ? 2.4 : 1.5]]) {
		ctx.strokeStyle = paint;
		ctx.lineWidth = width;
		ctx.stroke();
	}
}

function name(ctx, text, x, y, size, ink, ground) {
	let shown = text;
	ctx.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
	while (shown.length > 3 && ctx.measureText(shown).width > size - 12)
		shown = shown.slice(0, -2) + "…";
	const w = ctx.measureText(shown).width;
	ctx.fillStyle = ground;
	ctx.fillRect(x + 4, y + 4, w + 6, 18);
	ctx.fillStyle = ink;
	ctx.fillText(shown, x + 7, y + 17);
}

/*
 * nodes: [{name, flags, used (0 to 1 or null), colour: "--c0"}]; describe(node): one line of words; open(node).
 * Returns {element, update(nodes)}.
 */
export function nodeMap(nodes, label, describe, open, signal) {
	const canvas = el("canvas", {tabindex: "0", role: "application", "aria-roledescription": "map", "data-key": "map", "aria-label": label, "aria-describedby": "map-reading"});
	const reading = el("p", {class: "reading", id: "map-reading", "aria-live": "polite"}, "Arrow keys or the mouse read a node, Enter or a click opens it.");
	const box = el("div", {class: "map"}, canvas, reading), ctx = canvas.getContext("2d");
	let at = -1, l = layout(1, 1, 1), paints = null, painted = 0;

	/* A small square has neither corners nor an edge: thousands of them are painted at once. */
	const drawSmall = (n, x, y) => {
		const h = n.used > 0 ? Math.max(1, Math.round(l.size * Math.min(1, n.used))) : 0;
		if (h < l.size) {
			ctx.fillStyle = paints[n.used === null ? "--edge" : "--grid"];
			ctx.fillRect(x, y, l.size, l.size);
		}
		if (n.used === null) {
			ctx.fillStyle = paints["--card"];
			ctx.fillRect(x + 1, y + 1, l.size - 2, l.size - 2);
		}
		ctx.fillStyle = paints[n.colour];
		if (h)
			ctx.fillRect(x, y + l.size - h, l.size, h);
	};
	const drawLarge = (n, x, y, isChosen) => {
		const r = Math.min(6, l.size / 5);
		ctx.fillStyle = paints["--sunk"];
		ctx.beginPath();
		ctx.roundRect(x, y, l.size, l.size, r);
		ctx.fill();
		if (n.used > 0) {
			const h = Math.max(1, Math.round(l.size * Math.min(1, n.used)));
			ctx.save();
			ctx.clip();
			ctx.fillStyle = paints[n.colour];
			ctx.fillRect(x, y + l.size - h, l.size, h);
			ctx.restore();
		}
		ctx.strokeStyle = paints[isChosen ? "--mark" : "--edge"];
		ctx.lineWidth = isChosen ? 3 : n.used > 0 ? 0.5 : 1;
		ctx.setLineDash(n.used === null ? [3, 2] : []);
		ctx.stroke();
		ctx.setLineDash([]);
	};
	const draw = i => {
		const n = nodes[i], x = i % l.columns * l.step, y = Math.floor(i / l.columns) * l.step;
		ctx.clearRect(x - 1, y - 1, l.size + 2, l.size + 2);
		if (l.size < LARGE) {
			drawSmall(n, x, y);
			if (i === at) {
				ctx.strokeStyle = paints["--mark"];
				ctx.lineWidth = 2;
				ctx.strokeRect(x, y, l.size, l.size);
			}
		} else {
			drawLarge(n, x, y, i === at);
		}
		if (n.flags & (CORDONED | NOT_READY | OVERBOOKED | MISSING))
			sign(ctx, n.flags, x, y, l.size, paints["--mark"], paints["--card"]);
		if (l.size >= NAMED)
			name(ctx, n.name, x, y, l.size, paints["--ink"], paints["--card"]);
	};
	const paint = () => {
		const width = Math.max(100, Math.floor(box.clientWidth || 1200)), ratio = devicePixelRatio || 1;
		l = layout(nodes.length, width, Math.max(300, Math.min(680, width * 0.5)));
		paints = colours(["--sunk", "--grid", "--edge", "--mark", "--ink", "--card", ...new Set(nodes.map(n => n.colour))]);
		painted = width;
		canvas.width = Math.floor(width * ratio);
		canvas.height = Math.floor(Math.max(1, l.rows * l.step) * ratio);
		canvas.style.setProperty("height", l.rows * l.step + "px");
		canvas.style.setProperty("width", width + "px");
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.translate(1, 1);
		for (let i = 0; i < nodes.length; i++)
			draw(i);
		box.dataset.painted = nodes.length;
	};
	const read = i => {
		const before = at;
		at = i;
		if (before >= 0 && before < nodes.length)
			draw(before);
		if (at >= 0)
			draw(at);
		reading.replaceChildren(at >= 0 ? describe(nodes[at]) : "");
	};
	const under = ev => {
		const r = canvas.getBoundingClientRect(), c = Math.floor((ev.clientX - r.left) / l.step), row = Math.floor((ev.clientY - r.top) / l.step), i = row * l.columns + c;
		return c >= 0 && c < l.columns && i >= 0 && i < nodes.length ? i : -1;
	};
	canvas.addEventListener("mousemove", ev => {
		const i = under(ev);
		if (i < 0) {
			hideTip();
			return;
		}
		if (i !== at)
			read(i);
		showTip(ev.clientX, ev.clientY, el("b", {}, nodes[i].name), el("div", {}, describe(nodes[i])));
	});
	canvas.addEventListener("mouseleave", hideTip);
	canvas.addEventListener("click", ev => {
		const i = under(ev);
		if (i >= 0)
			open(nodes[i]);
	});
	canvas.addEventListener("keydown", ev => {
		const move = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -l.columns, ArrowDown: l.columns, Home: -nodes.length, End: nodes.length}[ev.key];
		if (ev.key === "Enter" && at >= 0)
			open(nodes[at]);
		if (move === undefined || !nodes.length)
			return;
		ev.preventDefault();
		read(at < 0 ? 0 : Math.max(0, Math.min(nodes.length - 1, at + move)));
	});
	const resized = new ResizeObserver(() => requestAnimationFrame(() => box.isConnected && Math.abs(painted - box.clientWidth) > 1 && paint()));
	resized.observe(box);
	signal.addEventListener("abort", () => resized.disconnect());
	addEventListener("themechange", () => box.isConnected && paint(), {signal});
	return {
		element: box,
		paint,
		update(next, label) {
			const chosen = at >= 0 ? nodes[at].name : null;
			nodes = next;
			at = chosen === null ? -1 : nodes.findIndex(n => n.name === chosen);
			canvas.setAttribute("aria-label", label);
			if (box.isConnected)
				paint();
		},
	};
}

