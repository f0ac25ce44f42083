"""Small Python programs: a policy writes them, and CodeJudge runs them in a jail against the tests of their task."""
