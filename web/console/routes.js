/*
 * The views there are. path is what stands behind "#/"; nav is the word in the navigation, and is left out for views of
 * one thing (a pod), which are reached from others. The first is shown where nothing was asked for.
 */
export const routes = [
	{path: "overview", nav: "Overview", load: () => import("./views/overview.js")},
	{path: "queues", nav: "Queues", load: () => import("./views/queues.js")},
	{path: "nodes", nav: "Nodes", load: () => import("./views/nodes.js")},
];

export const routeOf = path => routes.find(r => r.path === path);
