/*
 * Draws a report with the scripts that draw it in a page of its own (web/report). They are no modules: each adds its
 * functions to the page, so they are loaded once, in their order, when the first report is opened.
 */
const SCRIPTS = ["base", "charts", "simulation", "evictions", "comparison", "advice"];
let loaded = null;

const loadScript = name => new Promise((done, fail) => {
	const script = document.createElement("script");
	script.src = `/report/${name}.js`;
	script.addEventListener("load", done);
	script.addEventListener("error", () => fail(new Error(`${name}.js could not be loaded`)));
	document.head.append(script);
});

async function loadAll() {
	for (const name of SCRIPTS)
		await loadScript(name);
}

/* Links to parts of the report move there, and leave the address of the view as it is. */
function onContents(ev) {
	const a = ev.target.closest("a");
	if (!a)
		return;
	ev.preventDefault();
	const section = document.getElementById(a.getAttribute("href").slice(1));
	section.scrollIntoView();
	section.tabIndex = -1;
	section.focus({preventScroll: true});
}

export async function drawReport(data, place) {
	loaded = loaded || loadAll();
	try {
		await loaded;
	} catch (error) {
		loaded = null;
		throw error;
	}
	const contents = document.createElement("nav"), main = document.createElement("div");
	contents.setAttribute("aria-label", "On this page");
	contents.className = "contents";
	contents.addEventListener("click", onContents);
	place.replaceChildren(contents, main);
	globalThis.drawReportInto(data, {main, contents});
}
