/*
 * What happens, as it happens: one connection to /api/v1/events for the whole page, read with fetch, because an
 * EventSource cannot send a token. It comes back by itself after any failure and tells the server the last event it has;
 * a daemon that was started anew answers with a reset, and every view loads again.
 */
import {authHeaders, firstEvent, isAbort} from "./api.js";

const FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 15000;
const SILENCE_MS = 45000; /* the server says something every 15 s */
const listeners = new Set(); /* {kinds, call} */
const watchers = new Set(); /* of the state */
let state = {name: "connecting", since: Date.now()};
let lastId = null, wake = null, controller = null;

export const liveState = () => state;

function setState(name, status) {
	if (state.name === name && state.status === status)
		return;
	state = {name, status, since: Date.now()};
	for (const w of [...watchers])
		w(state);
}

/* call(state): name is connecting, live, lost or refused (with a status) */
export function watchState(call) {
	watchers.add(call);
	call(state);
}

/* call({kind, id, data}) for events of these kinds, and for resets, until the signal. */
export function on(signal, kinds, call) {
	const l = {kinds: new Set([...kinds, "reset"]), call};
	listeners.add(l);
	signal.addEventListener("abort", () => listeners.delete(l));
}

function tell(kind, id, text) {
	let data = {};
	try {
		data = JSON.parse(text);
	} catch {
		/* what cannot be read is an event all the same */
	}
	for (const l of [...listeners])
		if (l.kinds.has(kind))
			l.call({kind, id, data});
}

function handle(block) {
	let kind = "message", id = null;
	const data = [];
	for (const line of block.split("\n")) {
		const colon = line.indexOf(":"), field = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
		if (field === "event")
			kind = value;
		else if (field === "id")
			id = value;
		else if (field === "data")
			data.push(value);
	}
	if (id !== null)
		lastId = id;
	if (data.length)
		tell(kind, id, data.join("\n"));
}

async function readAll(body) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "", timer = 0;
	const heard = () => {
		clearTimeout(timer);
		timer = setTimeout(() => controller && controller.abort(), SILENCE_MS);
	};
	try {
		for (heard(); ; heard()) {
			const {value, done} = await reader.read();
			if (done)
				return;
			const blocks = (rest + value.replaceAll("\r", "")).split("\n\n");
			rest = blocks.pop();
			blocks.forEach(handle);
		}
	} finally {
		clearTimeout(timer);
	}
}

/* True: it was there. */
async function connect() {
	controller = new AbortController();
	lastId ??= firstEvent();
	const headers = {...authHeaders(), Accept: "text/event-stream", ...(lastId ? {"Last-Event-ID": lastId} : {})};
	try {
		const response = await fetch("/api/v1/events", {headers, signal: controller.signal, credentials: "omit", cache: "no-store"});
		if (!response.ok) {
			setState("refused", response.status);
			return false;
		}
		const wasLost = state.name === "lost";
		setState("live");
		if (wasLost && !lastId)
			tell("reset", null, "{}"); /* nothing was heard before: anything may have happened */
		await readAll(response.body);
	} catch (error) {
		if (isAbort(error) && state.name !== "live")
			return false;
	}
	const wasThere = state.name === "live";
	setState("lost");
	return wasThere;
}

const sleep = ms => new Promise(done => {
	const timer = setTimeout(done, ms);
	wake = () => {
		clearTimeout(timer);
		done();
	};
});

/* Another token, or somebody wants to know now. */
export function reconnect() {
	if (state.name === "live" && controller)
		controller.abort();
	else if (wake)
		wake();
}

/* For ever. */
export async function start() {
	addEventListener("online", reconnect);
	for (let wait = FIRST_WAIT_MS; ; ) {
		wait = await connect() ? FIRST_WAIT_MS : Math.min(wait * 2, LONGEST_WAIT_MS);
		await sleep(wait);
	}
}

/* A list of choices that is open would close if its view were drawn anew. */
const PICKING_MS = 10000;
let touchedAt = -Infinity;
for (const kind of ["pointerdown", "keydown"])
	addEventListener(kind, () => { touchedAt = performance.now(); }, true);
const isPicking = () => document.activeElement instanceof HTMLSelectElement && performance.now() - touchedAt < PICKING_MS;

/*
 * Calls refresh() when something of these kinds happened: soon, but not more often than a tenth of the time it takes
 * allows, and not while nobody looks or somebody chooses. refresh returns a promise; its failures are told to failed(error).
 */
export function follow(signal, kinds, refresh, failed) {
	let timer = 0, isBusy = false, isDue = false, tookMs = 0;
	const run = async () => {
		timer = 0;
		if (document.hidden || isBusy)
			return;
		if (isPicking()) {
			timer = setTimeout(run, 1000);
			return;
		}
		isDue = false;
		isBusy = true;
		const began = performance.now();
		try {
			await refresh();
		} catch (error) {
			if (!isAbort(error) && !signal.aborted)
				failed(error);
		}
		tookMs = performance.now() - began;
		isBusy = false;
		if (isDue)
			plan();
	};
	const plan = () => {
		isDue = true;
		if (!timer && !isBusy && !signal.aborted)
			timer = setTimeout(run, Math.min(Math.max(500, tookMs * 9), 30000));
	};
	const onShown = () => {
		if (!document.hidden && isDue)
			plan();
	};
	on(signal, kinds, plan);
	document.addEventListener("visibilitychange", onShown);
	signal.addEventListener("abort", () => {
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", onShown);
	});
	return plan;
}
