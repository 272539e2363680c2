"""The Loadsheet agent: runs load tools by a plan, keeps the evidence, uploads it."""

__version__ = "0.1.0"
AGENT_NAME = "loadsheet-agent"
