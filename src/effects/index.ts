/** Durable effects: run once, remember the outcome. */
export * from "./journal.ts";
