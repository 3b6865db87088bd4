/* Is all well? */
import {get} from "../api.js";
import {swap} from "../dom.js";
import {num, when, timeOf} from "../format.js";
import {follow} from "../live.js";
import {heading, tiles} from "../parts.js";
import {stale} from "../notice.js";

export const title = "Overview";

export async function render(root, params, signal) {
	const load = async () => {
		const c = await get("/api/v1/cluster", {summary: true}, signal);
		const pods = c.summary.pods;
		swap(root, heading("Overview", `As of ${when(timeOf(c.now))} UTC, profile ${c.profile}.`), tiles([
			{title: "Nodes", value: num(c.summary.nodes)},
			{title: "Running", value: num(pods.running)},
			{title: "Waiting", value: num(pods.waiting)},
			{title: "Leaving", value: num(pods.leaving)},
		]));
		stale();
	};
	await load();
	follow(signal, ["decision", "cluster", "settings", "leader"], load, stale);
}
