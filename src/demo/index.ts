/** The demo, which needs no key: a failing test, and a scripted model that fixes it with the tools of the built-in agent. */
export { DEMO_MODEL } from "../providers/demo/model.ts";
export { DEMO_FILES, DEMO_PROMPT } from "../providers/demo/script.ts";
export { startDemoTask, type DemoServices } from "./task.ts";
