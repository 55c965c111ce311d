//! Channels without a bound.
//!
//! A list with one exchange per message: std's blocks of slots, and its spinning, would show nothing more of
//! the user's program. The last sender leaves a message that says so.

use crate::porf_intrinsics as porf;
use std::cell::Cell;
use std::fmt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::Arc;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};

/// A message, or the end of them all.
struct Node<T> {
    next: AtomicPtr<Node<T>>,
    message: Option<T>,
}

struct Queue<T> {
    /// Where the next message goes.
    tail: AtomicPtr<Node<T>>,
    /// The message that was received last. Only the receiver looks at it.
    head: Cell<*mut Node<T>>,
    has_receiver: AtomicBool,
}

/// What all senders share.
struct Sending<T>(Arc<Queue<T>>);

pub struct Sender<T>(Arc<Sending<T>>);

pub struct Receiver<T>(Arc<Queue<T>>);

// SAFETY: messages go from one thread to another, and only the receiver uses `head`.
unsafe impl<T: Send> Send for Queue<T> {}
unsafe impl<T: Send> Sync for Queue<T> {}

/// Makes a channel.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let first = node(None);
    let queue = Arc::new(Queue {
        tail: AtomicPtr::new(first),
        head: Cell::new(first),
        has_receiver: AtomicBool::new(true),
    });
    (Sender(Arc::new(Sending(queue.clone()))), Receiver(queue))
}

fn node<T>(message: Option<T>) -> *mut Node<T> {
    Box::into_raw(Box::new(Node { next: AtomicPtr::new(null_mut()), message }))
}

impl<T> Queue<T> {
    fn push(&self, message: Option<T>) {
        let new = node(message);
        let before = self.tail.swap(new, Ordering::AcqRel);
        // SAFETY: a node is freed by the receiver once it has seen the next one, which nobody else sets.
        unsafe { (*before).next.store(new, Ordering::Release) };
    }

    /// The next message, if there is one that is known here.
    fn pop(&self) -> Result<T, TryRecvError> {
        let head = self.head.get();
        // SAFETY: the receiver's own node.
        let next = unsafe { (*head).next.load(Ordering::Acquire) };
        if next.is_null() {
            return Err(TryRecvError::Empty);
        }
        // SAFETY: whoever made it has released it. The end of all messages stays, to be seen again.
        let message = unsafe { (*next).message.take() }.ok_or(TryRecvError::Disconnected)?;
        self.head.set(next);
        // SAFETY: nobody else has its address any more.
        drop(unsafe { Box::from_raw(head) });
        Ok(message)
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let mut at = self.head.get();
        while !at.is_null() {
            // SAFETY: all other owners are gone.
            let node = unsafe { Box::from_raw(at) };
            at = node.next.load(Ordering::Relaxed);
        }
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        self.0.push(None);
    }
}

impl<T> Sender<T> {
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let queue = &self.0 .0;
        if !queue.has_receiver.load(Ordering::Acquire) {
            return Err(SendError(message));
        }
        queue.push(Some(message));
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

impl<T> Receiver<T> {
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.pop()
    }

    pub fn recv(&self) -> Result<T, RecvError> {
        loop {
            match self.0.pop() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => porf::wait(),
            }
        }
    }

    /// Time may pass at any moment: it times out, or not.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        match self.0.pop() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if porf::flip() => Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => self.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.has_receiver.store(false, Ordering::Release);
        while self.0.pop().is_ok() {}
    }
}
