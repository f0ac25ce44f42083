"""The page of `astuner view` measured and photographed in headless Chromium."""
