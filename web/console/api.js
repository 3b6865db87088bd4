/*
 * Requests to the server this page came from. A failure is an ApiError with a status: 0 where nobody answered. The token
 * that a server outside of this machine wants is kept for this tab alone.
 */

const KEY = "cede-token";

export class ApiError extends Error {
	constructor(status, message, retryAfter) {
		super(message);
		this.name = "ApiError";
		this.status = status;
		this.retryAfter = retryAfter;
	}
}

export const token = () => sessionStorage.getItem(KEY) || "";
export const setToken = text => text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY);
export const authHeaders = () => token() ? {Authorization: "Bearer " + token()} : {};
let seenEvent = null;
/* The latest event that the first answer knew of: who follows from there misses nothing. */
export const firstEvent = () => seenEvent;
export const isAbort = error => error && error.name === "AbortError";

async function failure(response) {
	let message = response.statusText || `status ${response.status}`;
	try {
		message = (await response.json()).message || message;
	} catch {
		/* it was no JSON: something between us and the server spoke */
	}
	return new ApiError(response.status, message, Number(response.headers.get("Retry-After")) || 0);
}

async function ask(path, options) {
	let response;
	try {
		response = await fetch(path, {...options, headers: {...authHeaders(), ...options.headers}, credentials: "omit", cache: "no-store"});
	} catch (error) {
		if (isAbort(error))
			throw error;
		throw new ApiError(0, "The server does not answer.");
	}
	if (!response.ok)
		throw await failure(response);
	seenEvent ??= response.headers.get("Cede-Event-Id");
	return response;
}

/* path("/api/v1/pods", {queue: "root.a", after: ""}): what is empty is left out. */
export function path(base, query) {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(query || {}))
		if (v !== undefined && v !== null && v !== "")
			q.set(k, v);
	const text = q.toString();
	return text ? base + "?" + text : base;
}

/* get("/api/v1/pods", {limit: 50}, signal) */
export async function get(base, query, signal) {
	return (await ask(path(base, query), {signal})).json();
}

export async function getText(base, query, signal) {
	return (await ask(path(base, query), {signal})).text();
}

export async function post(base, body, signal) {
	return (await ask(base, {method: "POST", body, signal})).json();
}

export async function postText(base, body, signal) {
	return (await ask(base, {method: "POST", body, signal})).text();
}
