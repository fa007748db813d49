import { describe, expect, it } from "vitest";
import { openScene, WIRES } from "./test-scene.ts";
import { playScenario, SCENARIOS, scriptOf } from "./test-scenarios.ts";

const named = SCENARIOS.map((scenario) => [scenario.name, scenario] as const);

describe.each(WIRES)("a turn over %s has the expected transcript", { concurrent: true }, (wire) => {
  it.each(named)("%s", async (_, scenario) => {
    await using scene = await openScene({ ...scenario, wire, script: scriptOf(scenario, wire) });
    await playScenario(scenario, scene);
    expect(await scene.lines()).toEqual(scenario.lines);
    expect(scene.model.requests).toHaveLength(scenario.requests);
    expect(scene.model.problems).toEqual([]);
    await scenario.expectAlso?.(scene);
  });
});
