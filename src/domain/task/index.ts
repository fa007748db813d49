/** Tasks: their specification, events, state, store and public views. */
export * from "./build-view.ts";
export * from "./events.ts";
export * from "./placement.ts";
export * from "./requests.ts";
export * from "./spec.ts";
export * from "./state.ts";
export * from "./store.ts";
export * from "./view.ts";
