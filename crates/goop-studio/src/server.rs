//! HTTP and WebSocket on one port.
//!
//! Who may talk to it: a request must name us as its host, so that no foreign name can be
//! pointed at this machine; a browser must say that the page it comes from is ours; away
//! from loopback every request carries the token. What is served is a list of three files
//! and two questions; no path leads to the disk. Connections are bounded, and one that has
//! not become a WebSocket makes room for a newer one.

use crate::engine::{self, Inbound, Latency, Question, Sending, Slots};
use crate::protocol::{Command, MOST_MESSAGE, MOST_UNDRAWN};
use crate::session::Session;
use crate::{Options, StudioError};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Connections at once.
const MOST_CONNECTIONS: usize = 96;
/// Pages at once.
const MOST_PAGES: usize = 24;
/// A page that takes no frame for so long is gone.
const SLOWEST: Duration = Duration::from_secs(20);
/// Commands that wait for the engine.
const MOST_WAITING: usize = 4096;

/// What every request sees.
struct Shared {
    to_engine: SyncSender<Inbound>,
    slots: Slots,
    address: SocketAddr,
    token: Option<String>,
    pages: AtomicUsize,
    clients: AtomicU64,
    frames_sent: AtomicU64,
    bytes_sent: AtomicU64,
}

/// Serves until the process ends.
pub fn serve(options: &Options, session: Session, ready: impl FnOnce(&str)) -> Result<(), StudioError> {
    let wanted = SocketAddr::new(options.address, options.port);
    let fail = |cause| StudioError::Listen { address: wanted, cause };
    let listener = std::net::TcpListener::bind(wanted).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fail)?;

    let (to_engine, inbox) = sync_channel(MOST_WAITING);
    let slots = Slots {
        frame: watch::Sender::new(Sending::default()),
        model: watch::Sender::new(Bytes::new()),
        state: watch::Sender::new(Arc::from("")),
        latency: Arc::new(Mutex::new(Latency::default())),
    };
    let for_engine = slots.clone();
    std::thread::Builder::new()
        .name("engine".into())
        .spawn(move || engine::run(session, inbox, for_engine))
        .map_err(fail)?;

    let shared = Arc::new(Shared {
        to_engine,
        slots,
        address,
        token: options.token.clone(),
        pages: AtomicUsize::new(0),
        clients: AtomicU64::new(1),
        frames_sent: AtomicU64::new(0),
        bytes_sent: AtomicU64::new(0),
    });
    let tail = options.token.as_ref().map_or(String::new(), |token| format!("?token={token}"));
    ready(&format!("http://{address}/{tail}"));
    runtime.block_on(async move {
        let listener = TcpListener::from_std(listener).map_err(fail)?;
        accept(listener, shared).await;
        Ok(())
    })
}

/// A connection that is open.
struct Open {
    number: u64,
    upgraded: Arc<AtomicBool>,
    task: tokio::task::AbortHandle,
}

/// Takes connections; when there are too many, the oldest that is no page makes room.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let router = router(shared);
    let open: Arc<Mutex<Vec<Open>>> = Arc::default();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: some will be free soon.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let Ok(mut list) = open.lock() else { return };
        if list.len() >= MOST_CONNECTIONS {
            match list.iter().position(|o| !o.upgraded.load(Ordering::Relaxed)) {
                Some(oldest) => list.remove(oldest).task.abort(),
                None => continue,
            }
        }
        // Small messages go out at once; where that cannot be set it is only slower.
        let _ = stream.set_nodelay(true);
        let upgraded = Arc::new(AtomicBool::new(false));
        let (mark, service, done) = (upgraded.clone(), router.clone(), open.clone());
        let task = tokio::spawn(async move {
            let service = service.layer(axum::Extension(mark));
            let service = hyper_util::service::TowerToHyperService::new(service);
            let io = hyper_util::rt::TokioIo::new(stream);
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(hyper_util::rt::TokioTimer::new()).header_read_timeout(Duration::from_secs(10));
            http.max_buf_size(32 << 10).half_close(false);
            // However a connection ends, it is over.
            let _ = http.serve_connection(io, service).with_upgrades().await;
            if let Ok(mut list) = done.lock() {
                list.retain(|o| o.number != number);
            }
        });
        list.push(Open { number, upgraded, task: task.abort_handle() });
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/socket", get(socket))
        .route("/status", get(|State(s): State<Arc<Shared>>| ask(s, Question::Status)))
        .route("/state", get(|State(s): State<Arc<Shared>>| ask(s, Question::State)))
        .route("/measures", get(measures))
        .fallback(get(page))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Lets only those in who may.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Err(sentence) = allowed(&shared, request.headers(), request.uri()) {
        return (StatusCode::FORBIDDEN, sentence).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy =
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'";
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn allowed(shared: &Shared, headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
    let text = |name| headers.get(name).map(|v: &HeaderValue| v.to_str().unwrap_or_default());
    let host = text(header::HOST).unwrap_or_default();
    if shared.token.is_none() {
        let port = shared.address.port();
        let ours = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        if !ours.iter().any(|name| name == host) && host != shared.address.to_string() {
            return Err("this studio answers only at its own address");
        }
    }
    if let Some(origin) = text(header::ORIGIN)
        && origin.strip_prefix("http://") != Some(host)
    {
        return Err("this request comes from another page");
    }
    if let Some(token) = &shared.token {
        let mut pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let given = pairs.find(|(key, _)| *key == "token").map_or("", |(_, value)| value);
        // Every character is compared, whatever the first ones are.
        let same = given.len() == token.len() && given.bytes().zip(token.bytes()).fold(0, |d, (a, b)| d | (a ^ b)) == 0;
        if !same {
            return Err("this studio needs its token: open the address that it printed");
        }
    }
    Ok(())
}

/// The page: three files by name; the token is handed on to what it loads.
async fn page(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    let name = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let files = PAGE.unwrap_or_default();
    let Some((name, bytes)) = files.iter().find(|(file, _)| *file == name) else {
        return (StatusCode::NOT_FOUND, "there is no such page").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    };
    let body = match (&shared.token, *name) {
        (Some(token), "index.html") => {
            let text = String::from_utf8_lossy(bytes);
            let with = |file: &str| format!("\"{file}?token={token}\"");
            Body::from(text.replace("\"main.js\"", &with("main.js")).replace("\"style.css\"", &with("style.css")))
        }
        _ => Body::from(*bytes),
    };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn ask(shared: Arc<Shared>, question: Question) -> Response {
    let (to, from) = oneshot::channel();
    if shared.to_engine.try_send(Inbound::Ask(question, to)).is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the engine is busy; ask again").into_response();
    }
    match tokio::time::timeout(Duration::from_secs(30), from).await {
        Ok(Ok(json)) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "the engine is busy; ask again").into_response(),
    }
}

/// Frames and bytes sent, pages, how long drags took to be seen and what took longest (s).
async fn measures(State(shared): State<Arc<Shared>>) -> Response {
    let (mut drags, longest): (Vec<f64>, _) = match shared.slots.latency.lock() {
        Ok(mut latency) => (latency.samples.iter().copied().collect(), std::mem::take(&mut latency.longest)),
        Err(_) => Default::default(),
    };
    drags.sort_by(f64::total_cmp);
    let at =
        |share: f64| drags.get(((drags.len() as f64 * share) as usize).min(drags.len().saturating_sub(1))).copied();
    let json = serde_json::json!({
        "frames_sent": shared.frames_sent.load(Ordering::Relaxed),
        "bytes_sent": shared.bytes_sent.load(Ordering::Relaxed),
        "pages": shared.pages.load(Ordering::Relaxed),
        "drags": drags.len(), "drag_median": at(0.5), "drag_p95": at(0.95), "drag_worst": drags.last(),
        "longest_step": longest[0], "longest_command": longest[1], "longest_frame": longest[2],
    });
    ([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response()
}

async fn socket(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let mark = parts.extensions.get::<Arc<AtomicBool>>().cloned();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &shared).await {
        Ok(upgrade) => upgrade,
        Err(refusal) => return refusal.into_response(),
    };
    if shared.pages.fetch_add(1, Ordering::Relaxed) >= MOST_PAGES {
        shared.pages.fetch_sub(1, Ordering::Relaxed);
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    }
    if let Some(mark) = mark {
        mark.store(true, Ordering::Relaxed);
    }
    let upgrade = upgrade.max_message_size(MOST_MESSAGE).max_frame_size(MOST_MESSAGE);
    let failed = shared.clone();
    upgrade
        .on_failed_upgrade(move |_| {
            failed.pages.fetch_sub(1, Ordering::Relaxed);
        })
        .on_upgrade(move |socket| talk(socket, shared))
}

/// Talks to one page until it is gone.
async fn talk(socket: WebSocket, shared: Arc<Shared>) {
    let client = shared.clients.fetch_add(1, Ordering::Relaxed);
    let (mut to_page, mut from_page) = socket.split();
    let (reply, mut replies) = mpsc::channel::<String>(64);
    let (mut frames, mut models, mut states) =
        (shared.slots.frame.subscribe(), shared.slots.model.subscribe(), shared.slots.state.subscribe());
    frames.mark_changed();
    models.mark_changed();
    states.mark_changed();
    let (drew, mut drawn) = watch::channel(0);
    let out = shared.clone();
    let writer = tokio::spawn(async move {
        // Frames on the way, once the page says what it has drawn: one that draws slowly gets
        // fewer frames, and none of them late.
        let (mut undrawn, mut says) = (VecDeque::new(), false);
        loop {
            let mut sequence = None;
            let message = tokio::select! {
                biased;
                reply = replies.recv() => match reply {
                    Some(text) => Message::text(text),
                    None => return,
                },
                Ok(()) = models.changed() => Message::Binary(models.borrow_and_update().clone()),
                Ok(()) = states.changed() => {
                    let text = states.borrow_and_update().to_string();
                    Message::text(text)
                }
                Ok(()) = drawn.changed() => {
                    let newest: u32 = *drawn.borrow_and_update();
                    undrawn.retain(|sent| *sent > newest);
                    says = true;
                    continue;
                }
                Ok(()) = frames.changed(), if undrawn.len() < MOST_UNDRAWN => {
                    // Its model may have come since it was looked for above: that goes first.
                    if models.has_changed().unwrap_or(false) {
                        frames.mark_changed();
                        continue;
                    }
                    let frame = frames.borrow_and_update().clone();
                    sequence = Some(frame.sequence);
                    Message::Binary(frame.bytes)
                }
                else => return,
            };
            let size = match &message {
                Message::Binary(bytes) => bytes.len(),
                Message::Text(text) => text.len(),
                _ => 0,
            };
            if size == 0 {
                continue;
            }
            match tokio::time::timeout(SLOWEST, to_page.send(message)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
            out.bytes_sent.fetch_add(size as u64, Ordering::Relaxed);
            if let Some(sequence) = sequence {
                if says {
                    undrawn.push_back(sequence);
                }
                out.frames_sent.fetch_add(1, Ordering::Relaxed);
                if let Ok(mut latency) = out.slots.latency.lock() {
                    latency.sent(sequence);
                }
            }
        }
    });
    let mut strikes = 0;
    while let Some(Ok(message)) = from_page.next().await {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(_) => break,
            Message::Binary(_) => "",
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let sentence = match serde_json::from_str::<Command>(text) {
            Ok(Command::Drawn { sequence }) => {
                drew.send_replace(sequence);
                continue;
            }
            Ok(command) => {
                let received = Instant::now();
                match shared.to_engine.try_send(Inbound::Command { client, command, reply: reply.clone(), received }) {
                    Ok(()) => continue,
                    Err(TrySendError::Full(_)) => "the engine is busy; try again".to_owned(),
                    Err(TrySendError::Disconnected(_)) => "the engine has stopped; start goop studio again".to_owned(),
                }
            }
            Err(error) => {
                strikes += 1;
                format!("that command is not understood: {error}")
            }
        };
        let json = serde_json::json!({ "error": sentence }).to_string();
        // One that keeps talking nonsense is shown the door.
        if reply.try_send(json).is_err() || strikes > 20 {
            break;
        }
    }
    writer.abort();
    shared.pages.fetch_sub(1, Ordering::Relaxed);
    // Full or gone: then there is nothing that it holds.
    let _ = shared.to_engine.try_send(Inbound::Gone(client));
}
