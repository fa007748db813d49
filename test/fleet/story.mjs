// Plays the story of `examples/fleet` in a separate process and prints one JSON line per event.
import { playStory } from "../../examples/fleet/story.mjs";

const { url, token, repository } = JSON.parse(process.argv[2]);
const line = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const seen = await playStory({
  url,
  token,
  repository,
  tell: (words) => line({ words }),
  onEvent: (event, position) => line({ event, position }),
});
line({ seen });
