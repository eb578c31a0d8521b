// Node's own HTTP, both sides: node.js server LOG PORT | client BASE | websocket BASE
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const zlib = require('zlib');

const LINES = 'A line of a body that is sent in parts.\n'.repeat(40);
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'; // RFC 6455 §1.3

function serve(log, port) {
  const note = (socket, request, status, bytes) => {
    const line = `${request.method} ${request.url} HTTP/${request.httpVersion}`;
    fs.appendFileSync(log, `${socket.remotePort}\t${line}\t${status}\t${bytes}\n`);
  };
  const server = http.createServer(answer);

  function answer(request, response) {
    const isHead = request.method === 'HEAD';
    let bytes = 0;
    const { socket } = request;
    response.on('finish', () => note(socket, request, response.statusCode, isHead ? 0 : bytes));
    const end = (body) => { bytes += body.length; response.end(body); };
    const path = request.url.split('?')[0];
    if (path === '/plain') {
      response.setHeader('Content-Type', 'text/plain');
      end(Buffer.from('plain and short\n'));
    } else if (path === '/chunked') {
      const hasTrailer = !isHead && request.httpVersion === '1.1';
      if (hasTrailer) response.setHeader('Trailer', 'X-Lines');
      for (let from = 0; from < LINES.length; from += 500) {
        const part = LINES.slice(from, from + 500);
        bytes += part.length;
        response.write(part);
      }
      if (hasTrailer) response.addTrailers({ 'X-Lines': '40' });
      response.end();
    } else if (path === '/gzip') {
      response.setHeader('Content-Encoding', 'gzip');
      response.setHeader('Content-Type', 'text/plain');
      end(zlib.gzipSync(LINES));
    } else if (path === '/cached') {
      const has = request.headers['if-none-match'] === '"lab"';
      response.writeHead(has ? 304 : 200, { ETag: '"lab"' });
      end(Buffer.from(has ? '' : 'fresh'));
    } else if (path === '/early') {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      setTimeout(() => end(Buffer.from('after a hint')), 20);
    } else if (path === '/closed') {
      response.removeHeader('Transfer-Encoding');
      response.setHeader('Connection', 'close');
      bytes += LINES.length;
      response.write(LINES);
      setTimeout(() => end(Buffer.from('the end')), 20);
    } else if (path === '/stored') {
      let got = 0;
      request.on('data', (part) => { got += part.length; });
      request.on('end', () => { response.statusCode = 201; end(Buffer.from(`${got} bytes`)); });
    } else if (request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: 'GET, HEAD, POST, PUT, OPTIONS' });
      response.end();
    } else {
      response.writeHead(404);
      end(Buffer.from('nothing here'));
    }
  }

  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    answer(request, response);
  });
  server.on('upgrade', (request, socket) => {
    const key = request.headers['sec-websocket-key'];
    const accept = crypto.createHash('sha1').update(key + GUID).digest('base64');
    note(socket, request, 101, 0);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
      + `Connection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.on('data', (frame) => {
      // Frames of the client are short and whole: what it says is said again, unmasked.
      const [mask, text] = [frame.subarray(2, 6), frame.subarray(6)];
      const plain = text.map((byte, nth) => byte ^ mask[nth % 4]);
      socket.write(Buffer.concat([Buffer.from([frame[0], plain.length]), plain]));
      if ((frame[0] & 15) === 8) socket.end();
    });
  });
  server.listen(Number(port));
}

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(options, (response) => {
      response.on('data', () => {});
      response.on('end', resolve);
    });
    request.on('error', reject);
    if (body) {
      // No length: in chunks.
      request.write(body.slice(0, 10));
      request.write(body.slice(10));
    }
    request.end();
  });
}

async function client(base) {
  const { hostname, port } = new URL(base);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const options = { hostname, port, agent };
  await ask({ ...options, path: '/plain' });
  await ask({ ...options, path: '/stored', method: 'PUT' }, 'x'.repeat(2000));
  await ask({ ...options, path: '/early' });
  await ask({ ...options, path: '/chunked' });
  agent.destroy();
}

function websocket(base) {
  const { hostname, port } = new URL(base);
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': Buffer.from('sixteen bytes ok').toString('base64'),
    'Sec-WebSocket-Version': '13',
  };
  const request = http.request({ hostname, port, path: '/chat', headers });
  request.on('upgrade', (response, socket) => {
    const mask = Buffer.from([1, 2, 3, 4]);
    const frame = (kind, text) => {
      const bytes = Buffer.from(text).map((byte, nth) => byte ^ mask[nth % 4]);
      return Buffer.concat([Buffer.from([0x80 | kind, 0x80 | bytes.length]), mask, bytes]);
    };
    const frames = [frame(1, 'hello'), frame(9, 'ping'), frame(1, 'bye'), frame(8, '\x03\xe8')];
    const next = () => { if (frames.length) socket.write(frames.shift()); };
    socket.on('data', next);
    next();
  });
  request.end();
}

const [what, ...rest] = process.argv.slice(2);
({ server: serve, client, websocket })[what](...rest);
