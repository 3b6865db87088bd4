/* Reports of simulations: those that the server has, and files that somebody has. The drawing is that of the reports themselves (web/report). */
import {get} from "../api.js";
import {el, swap} from "../dom.js";
import {num} from "../format.js";
import {address} from "../links.js";
import {badge, broken, card, empty, heading, table} from "../parts.js";
import {drawReport} from "../report_draw.js";

export const title = "Reports";

const MOST_BYTES = 64 << 20;
const KINDS = ["Simulation", "Comparison", "Advice"];

/* What --report wrote: the data stands in an element of its own; a file of the data alone is taken, too. */
export function dataOf(text) {
	const begin = text.indexOf('id="data">'), end = begin < 0 ? -1 : text.indexOf("</script>", begin);
	const json = end < 0 ? text : text.slice(begin + 10, end);
	let data;
	try {
		data = JSON.parse(json);
	} catch {
		throw new TypeError("It is no page that cede wrote with --report.");
	}
	if (!data || !KINDS.includes(data.kind))
		throw new TypeError("It is no report of a simulation, a comparison or an advice.");
	return data;
}

async function show(root, data, from) {
	const place = el("div", {class: "report"});
	swap(root, heading(data.title || "Report", data.subtitle, el("a", {href: address("reports")}, "All reports")), from && el("p", {class: "say"}, from), place);
	document.title = `${data.title || "Report"} – cede`;
	try {
		await drawReport(data, place);
	} catch (error) {
		swap(place, broken("This report cannot be drawn.", `${error.name}: ${error.message}. It may be of another version.`));
	}
}

function opener(root) {
	const say = el("p", {class: "say", role: "status", id: "open-say"});
	const open = async ev => {
		const file = ev.target.files[0];
		if (!file)
			return;
		try {
			if (file.size > MOST_BYTES)
				throw new TypeError("It is longer than a report can be.");
			await show(root, dataOf(await file.text()), `From the file ${file.name}, which stays on this computer.`);
			root.querySelector("h1").focus();
		} catch (error) {
			say.className = "bad";
			say.replaceChildren(`${file.name}: ${error.message}`);
		}
	};
	return card("open", "Open a file", "A page that cede simulate, compare or advise wrote with --report. It is read here and sent nowhere.",
		el("div", {class: "controls"}, el("label", {for: "report-file"}, "Report"), el("input", {type: "file", id: "report-file", accept: ".html,.json,text/html,application/json", onchange: open})), say);
}

function listing(items) {
	if (!items.length)
		return empty("The server has no reports.", "cede serve --simulation FILE has one of its own, and --report FILE adds others.");
	return table("report-rows", "Reports of this server", [
		{title: "Report", text: true, show: r => el("a", {href: address("reports", [String(r.id)]), class: "name"}, r.title || `Report ${r.id}`)},
		{title: "Kind", text: true, show: r => badge("plain", r.report)}, {title: "File", text: true, show: r => r.file || "this simulation"}, {title: "Size", show: r => num(r.bytes / 1024, 0) + " KiB"},
	], items);
}

export async function render(root, params, signal) {
	if (params.parts.length) {
		await show(root, await get("/api/v1/reports/" + encodeURIComponent(params.parts[0]), {}, signal));
		return;
	}
	const list = await get("/api/v1/reports", {}, signal);
	swap(root, heading("Reports", "What came of simulated loads: waiting, evictions, lost work, by queue and over time."), card("list", "On this server", null, listing(list.items)), opener(root));
}
