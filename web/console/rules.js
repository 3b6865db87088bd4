/* The rules that protect, in the order they are asked; tests compare them with the program's. */
export const ruleNames = ["foreign", "daemonset", "never", "delay", "kai-quota", "same-cycle", "application", "fence", "policy", "priority", "preemptibility", "min-runtime",
	"maintenance-window", "guarantee", "fair-share", "budget", "eviction-rate", "opt-out", "plugin", "driver", "thrash"];
