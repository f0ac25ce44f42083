"""The `astuner` command."""


def main() -> None:
    """Entry point of the `astuner` command."""
    from agentscope_tuner.cli.app import app

    app()
