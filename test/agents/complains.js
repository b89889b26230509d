// Says on standard error why it fails. Usage: complains.js <exit code>
process.stderr.write(
  'Error: CODEX_HOME points to /nowhere\n\nUsage: program [OPTIONS]\n\nFor more information, try --help.\n',
)
process.exitCode = Number(process.argv[2])
