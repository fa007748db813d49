/** Records the traffic of a connection and formats it for reading. */
export { viewTrace } from "./view.ts";
export { traceTo, type Trace, type TraceOptions } from "./write.ts";
