/** Durable effects. */
export * from "./journal.ts";
