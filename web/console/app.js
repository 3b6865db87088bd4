/* The frame around the views: navigation, theme, who may look, and whether the server is there. */
import {ApiError, isAbort, setToken, token} from "./api.js";
import {el, hideTip, swap} from "./dom.js";
import {clock, said} from "./format.js";
import {parse} from "./links.js";
import * as live from "./live.js";
import {notice} from "./notice.js";
import {loading} from "./parts.js";
import {routeOf, routes} from "./routes.js";

const $ = id => document.getElementById(id);
const THEMES = ["system", "light", "dark"];
let leave = null; /* ends the view that is shown */
let shown = null; /* its address */

/* ---- theme ---- */

function setTheme(name) {
	if (name === "system")
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = name;
	$("theme").replaceChildren(`Theme: ${name}`);
	localStorage.setItem("cede-theme", name);
	dispatchEvent(new Event("themechange")); /* for what is painted, not styled */
}

function startTheme() {
	const kept = localStorage.getItem("cede-theme");
	let at = Math.max(0, THEMES.indexOf(kept));
	setTheme(THEMES[at]);
	$("theme").addEventListener("click", () => setTheme(THEMES[at = (at + 1) % THEMES.length]));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));
}

/* ---- what the frame says ---- */

function showLive(state) {
	const words = {
		connecting: ["wait", "Connecting"],
		live: ["good", "Live"],
		lost: ["bad", "Not connected, trying again"],
		refused: ["warn", state.status === 401 || state.status === 403 ? "Not signed in" : "Live updates refused"],
	}[state.name];
	$("live").className = "live " + words[0];
	$("live").replaceChildren(el("span", {class: "dot", "aria-hidden": "true"}), words[1]);
	notice("connection", state.name === "lost" && `The server has not answered since ${clock(state.since / 1000)} UTC. What is shown is from before.`);
}

function showNav(current) {
	swap($("nav"), el("ul", {}, routes.filter(r => r.nav).map(r =>
		el("li", {}, el("a", {href: "#/" + r.path, id: "nav-" + r.path, "aria-current": r.path === (current === "group" ? "pod" : current) ? "page" : null}, r.nav)))));
}

/* ---- states ---- */

function signIn(status) {
	const field = el("input", {type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true});
	const submit = ev => {
		ev.preventDefault();
		setToken(field.value.trim());
		live.reconnect();
		show();
	};
	const again = token() !== "";
	return el("form", {class: "state signin", onsubmit: submit},
		el("h1", {tabindex: "-1"}, status === 403 ? "This is not for you to see" : "Who are you?"),
		el("p", {}, status === 403 ? "The token is good, but its owner may not read this. The ClusterRole cede-reader gives the right to." :
			"This server answers only who has a bearer token that it knows."),
		again && status === 401 && el("p", {class: "bad", role: "alert"}, "The token was not accepted."),
		el("label", {for: "token"}, "Token"), field,
		el("p", {class: "say"}, "For example of ", el("code", {}, "kubectl create token"), ". It is kept in this tab until it is closed, and sent to this server alone."),
		el("button", {type: "submit", class: "main"}, "Sign in"));
}

function retryIn(seconds, signal) {
	const timer = setTimeout(show, seconds * 1000);
	signal.addEventListener("abort", () => clearTimeout(timer));
}

/* A state instead of a view has a view's title. */
const state = (cls, title, say, ...more) => el("div", {class: "state " + cls, role: cls === "broken" ? "alert" : null}, el("h1", {tabindex: "-1"}, title), el("p", {}, say), more);
const broken = (title, say, ...more) => state("broken", title, say, ...more);

/* What is shown instead of a view that could not be loaded. */
function stateOf(error, signal) {
	const button = el("button", {type: "button", onclick: show}, "Try again");
	if (!(error instanceof ApiError))
		return broken("This view is broken.", `${error.name}: ${error.message}`, button);
	if (error.status === 401 || error.status === 403)
		return signIn(error.status);
	if (error.status === 404)
		return broken("There is no such thing.", said(error.message), button);
	if (error.status === 0 || error.status === 503)
		retryIn(error.retryAfter || 5, signal);
	if (error.status === 0)
		return broken("The server does not answer.", "It is tried again every few seconds.", button);
	if (error.status === 503)
		return broken("The server is busy.", `${said(error.message)} It is tried again in ${error.retryAfter || 5} seconds.`, button);
	return broken("The server could not answer.", said(error.message), button);
}

/* ---- views ---- */

function setTitle(title) {
	document.title = title ? `${title} – cede` : "cede";
}

function focusTitle() {
	const h = $("main").querySelector("h1");
	(h || $("main")).focus({preventScroll: true});
}

async function fill(route, params, signal, isMove) {
	const main = $("main");
	const slow = setTimeout(() => swap(main, el("h1", {class: "hidden", tabindex: "-1"}, route.nav || "Explain"), loading(route.nav ? route.nav.toLowerCase() : route.path)), isMove ? 150 : 600);
	try {
		const view = await route.load();
		const root = el("div", {class: "view", id: "view-" + route.path});
		setTitle(view.title);
		await view.render(root, params, signal);
		clearTimeout(slow);
		if (!signal.aborted)
			swap(main, root);
	} catch (error) {
		clearTimeout(slow);
		if (signal.aborted || isAbort(error))
			return;
		swap(main, stateOf(error, signal));
	}
	if (isMove)
		focusTitle();
	document.documentElement.dataset.ready = location.hash || "#/";
}

/* The view that the address names; again if it is there already. */
function show() {
	const asked = parse(location.hash);
	if (!asked && location.hash.length > 1)
		return; /* a place in the page, not a view */
	const params = asked && asked.view ? asked : {view: routes[0].path, parts: [], query: new URLSearchParams()};
	const route = routeOf(params.view), isMove = shown !== null && shown !== location.hash;
	if (leave)
		leave.abort();
	notice("view", null);
	leave = new AbortController();
	hideTip();
	delete document.documentElement.dataset.ready;
	showNav(params.view);
	if (isMove)
		scrollTo(0, 0);
	shown = location.hash;
	if (route) {
		fill(route, params, leave.signal, isMove);
		return;
	}
	setTitle("Not found");
	swap($("main"), state("empty", "There is no such page.", "The address may be of another version.", el("p", {}, el("a", {href: "#/" + routes[0].path}, "To the overview"))));
	document.documentElement.dataset.ready = location.hash;
}

function onLive(state) {
	showLive(state);
	if (state.name === "live" && $("main").querySelector(".state.broken, .state.signin"))
		show(); /* it is back */
}

startTheme();
addEventListener("hashchange", show);
document.querySelector(".skip").addEventListener("click", ev => {
	ev.preventDefault();
	$("main").focus();
});
show();
live.watchState(onLive);
live.start();
