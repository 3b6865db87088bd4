/*
 * The views there are. path is what stands behind "#/"; nav is the word in the navigation, and is left out for views of
 * one thing (a pod), which are reached from others. The first is shown where nothing was asked for.
 */
export const routes = [
	{path: "overview", nav: "Overview", load: () => import("./views/overview.js")},
	{path: "queues", nav: "Queues", load: () => import("./views/queues.js")},
	{path: "nodes", nav: "Nodes", load: () => import("./views/nodes.js")},
	{path: "timeline", nav: "Timeline", load: () => import("./views/timeline.js")},
	{path: "pod", nav: "Explain", load: () => import("./views/pod.js")},
	{path: "group", load: () => import("./views/group.js")},
	{path: "whatif", nav: "What if", load: () => import("./views/whatif.js")},
	{path: "reports", nav: "Reports", load: () => import("./views/reports.js")},
];

export const routeOf = path => routes.find(r => r.path === path);
