/** A connection written down, and shown. */
export { viewTrace } from "./view.ts";
export { traceTo, type Trace, type TraceOptions } from "./write.ts";
