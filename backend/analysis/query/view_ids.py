"""The charts of a comparison, made from frontend/src/charts/views.ts: run scripts/fix."""

VIEWS = (
    "sweep",
    "nines",
    "tradeoff",
    "errors",
    "ratios",
    "trend",
)
