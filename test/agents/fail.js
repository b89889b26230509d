process.stderr.write('no luck\n')
process.exitCode = 3
