// Only what is drawn is registered, so the bundle carries nothing else of Chart.js.
import {
  Chart,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from "chart.js";

Chart.register(LineController, LineElement, PointElement, LinearScale, LogarithmicScale, Tooltip);

export { Chart };
