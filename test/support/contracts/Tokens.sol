// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Tokens with what a payment needs. None has a constructor: a test puts the code at the address of the real token and mints what it needs.

/// An ERC-20 by the book.
contract PlainToken {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  function mint(address to, uint256 value) external {
    balanceOf[to] += value;
    emit Transfer(address(0), to, value);
  }

  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
    return true;
  }

  function transfer(address to, uint256 value) external returns (bool) {
    move(msg.sender, to, value);
    return true;
  }

  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    allowance[from][msg.sender] -= value;
    move(from, to, value);
    return true;
  }

  function move(address from, address to, uint256 value) private {
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
  }
}

/// Like USDT on Ethereum: transfers return nothing, issuing makes no Transfer, and a fee can be switched on, which the recipient bears.
contract TetherLike {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  uint256 public feeBasisPoints;
  address public feeCollector;

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Issue(uint256 amount);

  function mint(address to, uint256 value) external {
    balanceOf[to] += value;
    emit Issue(value);
  }

  function setFee(uint256 basisPoints, address collector) external {
    feeBasisPoints = basisPoints;
    feeCollector = collector;
  }

  function approve(address spender, uint256 value) external {
    allowance[msg.sender][spender] = value;
  }

  function transfer(address to, uint256 value) external {
    move(msg.sender, to, value);
  }

  function transferFrom(address from, address to, uint256 value) external {
    allowance[from][msg.sender] -= value;
    move(from, to, value);
  }

  function move(address from, address to, uint256 value) private {
    uint256 fee = (value * feeBasisPoints) / 10000;
    balanceOf[from] -= value;
    balanceOf[to] += value - fee;
    if (fee > 0) {
      balanceOf[feeCollector] += fee;
      emit Transfer(from, feeCollector, fee);
    }
    emit Transfer(from, to, value - fee);
  }
}

/// An ERC-721: the same event by name and topic, with the id as a fourth topic.
contract Collectible {
  event Transfer(address indexed from, address indexed to, uint256 indexed id);

  function mint(address to, uint256 id) external {
    emit Transfer(address(0), to, id);
  }
}

/// Emits any Transfer that it is asked for, without moving tokens.
contract Spoofer {
  event Transfer(address indexed from, address indexed to, uint256 value);

  function spoof(address from, address to, uint256 value) external {
    emit Transfer(from, to, value);
  }

  /// Emits a Transfer with two words of data instead of one.
  function spoofLong(address from, address to, uint256 value) external {
    bytes32 topic = keccak256("Transfer(address,address,uint256)");
    assembly {
      mstore(0, value)
      mstore(32, value)
      log3(0, 64, topic, from, to)
    }
  }
}
