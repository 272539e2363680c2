// Draws the image of a result set on a Node canvas: JSON on stdin, PNG on stdout. The charts are
// the browser's own code. One process draws one image, so images share no state.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { drawImage } from "./image";
import { type ImageRequest, readRequest } from "./request";

// Exit code: 3 means a missing library or font; any other failure is a fault of this program.
const MISSING = 3;
const FONT = "dejavu-fonts-ttf/ttf/DejaVuSans";

type Canvas = typeof import("@napi-rs/canvas");

function canvasLibrary(): Canvas {
  const require = createRequire(import.meta.url);
  try {
    const library: Canvas = require("@napi-rs/canvas");
    // With its own font the image is the same on every machine, also on one without fonts.
    library.GlobalFonts.registerFromPath(require.resolve(`${FONT}.ttf`), "Sheet");
    library.GlobalFonts.registerFromPath(require.resolve(`${FONT}-Bold.ttf`), "Sheet");
    return library;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message.split("\n")[0] : error}`);
    process.exit(MISSING);
  }
}

const library = canvasLibrary();
const scene: ImageRequest = readRequest(JSON.parse(readFileSync(0, "utf8")));
process.stdout.write(drawImage(scene, library.createCanvas).toBuffer("image/png"));
