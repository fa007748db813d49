/** The conductor role of ACP: runs a chain of proxies with an agent at its end. */
export { commandComponent, proxyComponent, type Component, type RunningComponent } from "./component.ts";
export { openConductor, Conductor, type ConductorOptions } from "./conductor.ts";
