"""The README's first table: common reward code beside astuner."""
