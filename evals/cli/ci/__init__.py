"""What commands leave for CI: a JUnit report, a comment, and what GitHub Actions shows beside a job."""
