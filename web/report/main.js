/* The page: theme, title, and the drawing for what kind of report it is. */

function themes() {
	const button = document.getElementById("theme"), order = ["system", "light", "dark"];
	let now = "system";
	const apply = () => {
		if (now === "system") document.documentElement.removeAttribute("data-theme");
		else document.documentElement.setAttribute("data-theme", now);
		button.textContent = "Theme: " + now;
	};
	button.addEventListener("click", () => {
		now = order[(order.indexOf(now) + 1) % order.length];
		apply();
	});
	const asked = new URLSearchParams(location.search).get("theme");
	if (order.includes(asked)) now = asked;
	apply();
}

function start() {
	themes();
	const data = JSON.parse(document.getElementById("data").textContent);
	document.title = `${data.title} – cede`;
	document.getElementById("title").textContent = data.title;
	document.getElementById("subtitle").textContent = data.subtitle || "";
	drawReportInto(data);
	document.getElementById("foot").append(el("p", {}, `Made by cede ${data.version}. Times are UTC. Everything is in this file; it asks nobody for anything.`));
	document.documentElement.setAttribute("data-ready", "yes");
}

start();
