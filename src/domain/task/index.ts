/** Tasks: what is asked, what happened, what is, and where it is kept. */
export * from "./events.ts";
export * from "./requests.ts";
export * from "./spec.ts";
export * from "./state.ts";
export * from "./store.ts";
export * from "./view.ts";
