// An address → a program that answers every POST there with 204 and prints the id of each.
import { createServer } from 'node:http';

const [host = '127.0.0.1', port = '8080'] = process.argv.slice(2);
createServer((request, response) => {
  process.stdout.write(`${request.headers['webhook-id']}\n`);
  request.resume().on('end', () => response.writeHead(204).end());
}).listen(Number(port), host, () => process.stdout.write('listening\n'));
