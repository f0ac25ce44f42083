"""CodeJudge under attack, beside other graders, and at speed."""
