// Draws the image of a result set on a Node canvas: JSON on stdin, PNG on stdout. The charts are
// the browser's own code. One process draws one image, so nothing of one can stay in another.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { drawImage } from "./image";
import { type ImageRequest, readRequest } from "./request";

// What the service tells apart by: 3 is a missing part, anything else a fault of this program.
const MISSING = 3;
const FONT = "dejavu-fonts-ttf/ttf/DejaVuSans";

type Canvas = typeof import("@napi-rs/canvas");

function canvasLibrary(): Canvas {
  const require = createRequire(import.meta.url);
  try {
    const library: Canvas = require("@napi-rs/canvas");
    // A font of its own: the same image on every machine, also on one without any font.
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
