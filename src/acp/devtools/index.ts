/**
 * Tools for people who develop ACP agents and clients, behind `rookery acp check`, `trace` and `registry`. The protocol
 * itself does not depend on them.
 */
export * from "./check/index.ts";
export * from "./registry/index.ts";
export * from "./trace/index.ts";
