// Says on standard error why it fails. Usage: complains.js <exit code>
process.stderr.write('Error: CODEX_HOME points to /nowhere\n\n')
process.exitCode = Number(process.argv[2])
