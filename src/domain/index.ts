/** The vocabulary of Rookery, without any I/O. */
export * from "./backend.ts";
export * from "./budget.ts";
export * from "./children.ts";
export * from "./effects.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./ids.ts";
export * from "./mcp.ts";
export * from "./session-tools.ts";
export * from "./state.ts";
export * from "./store.ts";
export * from "./summary.ts";
export * from "./task/index.ts";
export * from "./tools.ts";
export * from "./usage.ts";
export * from "./work.ts";
