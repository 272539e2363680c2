// Loaded before the style sheet paints, so that a chosen theme never flashes the other one.
import { applyTheme, storedTheme } from "../site/theme_choice";

applyTheme(storedTheme());
// What a script opens later is closed from the first paint on; without scripts it stays open.
document.documentElement.dataset.script = "";
