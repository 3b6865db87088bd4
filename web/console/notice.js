/* The line above a view: that what is shown is not fresh. Each source has one sentence, or none. */
import {el} from "./dom.js";

const said = new Map();

export function notice(source, sentence) {
	if (sentence)
		said.set(source, sentence);
	else
		said.delete(source);
	const box = document.getElementById("notice"), first = said.values().next();
	box.hidden = first.done;
	box.replaceChildren();
	if (!first.done)
		box.append(el("p", {}, first.value));
}

/* For live.follow: a refresh failed; without an error: it did not. */
export const stale = error => notice("view", error && `What is shown could not be refreshed: ${error.message}`);
