export { commandComponent, proxyComponent, type Component, type RunningComponent } from "./component.ts";
export { openConductor, Conductor, type ConductorOptions } from "./conductor.ts";
